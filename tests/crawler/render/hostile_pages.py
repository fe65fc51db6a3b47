"""Pages that try to leave the browser, to take all there is, or to forge what is read; and listeners that tell.

`%TCP%`, `%TCP6%` and `%UDP%` in a page stand for the listeners' host and port. What a page got back from one of them
it writes into its DOM: the word that the listeners answer with.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

HOST = "http://hostile.test"
BAIT = "BAIT-OF-LISTENER"
"""The listeners' answer."""
TEXT = "<article><h1>A page of a hostile site</h1>" + "<p>A paragraph of a text long enough to be read.</p>" * 8
HELP = (
    "const out=document.createElement('p');document.body.append(out);function say(x){out.append(' '+x)}"
    "async function get(u,o){try{const r=await fetch(u,o);say(await r.text())}catch(e){say('refused')}}"
)


def _page(script: str = "", body: str = "", head: str = "") -> str:
    return (
        f"<!DOCTYPE html><html><head><meta charset=utf-8><title>Hostile</title>{head}</head>"
        f"<body>{TEXT}</article>{body}<script>{HELP}{script}</script></body></html>"
    )


BREAK_OUTS = {
    "fetch": _page(
        "get('http://%TCP%/a');get('http://%TCP6%/b');get('http://%TCP%/c',{mode:'no-cors'});"
        "get('http://%TCP%/d',{method:'POST',body:'x',keepalive:true})"
    ),
    "spellings of loopback": _page(
        "const p='%TCP%'.split(':')[1];for(const h of ['localhost','127.1','2130706433','0x7f000001','0',"
        "'[::ffff:127.0.0.1]','127.0.0.1.','a.localhost'])get('http://'+h+':'+p+'/')"
    ),
    "redirects": _page(
        "get('/to?http://%TCP%/r');get('/to?http://localhost:1/r')", "<script src=/to?http://%TCP%/s></script>"
    ),
    "other schemes": _page(
        "for(const u of ['file:///etc/passwd','chrome://version','ftp://%TCP%/','view-source:file:///etc/passwd',"
        "'filesystem:http://hostile.test/temporary/x','devtools://devtools/bundled/inspector.html'])get(u);"
        "try{const x=new XMLHttpRequest();x.open('GET',"
        "'file:///etc/passwd',false);x.send();say(x.responseText)}catch(e){}"
    ),
    "sub-resources": _page(
        "",
        "<img src=http://%TCP%/i><script src=http://%TCP%/s></script><link rel=stylesheet href=http://%TCP%/c>"
        "<video src=http://%TCP%/v autoplay></video><object data=http://%TCP%/o></object><embed src=http://%TCP%/e>"
        "<video><track src=http://%TCP%/t default></video><svg><image href=http://%TCP%/g /></svg>"
        "<style>@import url(http://%TCP%/m);@font-face{font-family:x;src:url(http://%TCP%/f)}"
        "p{font-family:x;background:url(http://%TCP%/b)}</style>",
    ),
    "hints": _page(
        "",
        "",
        "<link rel=preconnect href=http://%TCP%><link rel=dns-prefetch "
        "href=//%TCP%><link rel=prefetch href=http://%TCP%/p>"
        "<link rel=preload as=script href=http://%TCP%/l><link rel=modulepreload href=http://%TCP%/m>"
        "<link rel=icon href=http://%TCP%/favicon.ico><link rel=manifest href=http://%TCP%/manifest>"
        "<link rel=compression-dictionary href=http://%TCP%/d>"
        "<link rel=search type=application/opensearchdescription+xml "
        "href=http://%TCP%/o>",
    ),
    "speculation rules": _page(
        "const s=document.createElement('script');s.type='speculationrules';"
        "s.textContent=JSON.stringify({prerender:[{source:"
        "'list',urls:['/ok','http://%TCP%/p'],eagerness:'immediate'}],"
        "prefetch:[{source:'list',urls:['/ok','http://%TCP%/f'],"
        "eagerness:'immediate'}]});document.head.append(s)"
    ),
    "frames": _page(
        "addEventListener('message',e=>say(e.data));const d=document.createElement('iframe');document.body.append(d);"
        "d.contentWindow.fetch('http://%TCP%/about',{mode:'no-cors'}).catch(()=>0)",
        '<iframe src=http://%TCP%/f></iframe><iframe srcdoc="<script>'
        "fetch('http://%TCP%/s',{mode:'no-cors'})</script>\">"
        '</iframe><iframe src=\'data:text/html,<script>fetch("http://%TCP%/d",{mode:"no-cors"})</script>\'></iframe>'
        "<iframe src=file:///etc/passwd></iframe><iframe sandbox=allow-scripts src=http://%TCP%/b></iframe>"
        "<iframe src='http://other.test/inner'></iframe><fencedframe></fencedframe>",
    ),
    "refresh": _page("", "", "<meta http-equiv=refresh content='0;url=http://%TCP%/r'>"),
    "location": _page("setTimeout(()=>{location.href='http://%TCP%/l'},50)"),
    "own location": _page("setTimeout(()=>{location.href='/ok'},50);setTimeout(()=>location.reload(),100)"),
    "form": _page(
        "document.forms[0].submit()", "<form method=post action=http://%TCP%/f><input name=a value=b></form>"
    ),
    "windows": _page(
        "window.open('http://%TCP%/w');window.open('about:blank','x')?.fetch('http://%TCP%/x');"
        "for(const t of ['_blank','named']){const a=document.createElement('a');a.href='http://%TCP%/'+t;a.target=t;"
        "document.body.append(a);a.click()}"
    ),
    "sockets": _page(
        "for(const u of ['ws://%TCP%/w','ws://%TCP6%/w','ws://hostile.test/'])new WebSocket(u).onopen=()=>say('opened')"
    ),
    "event source": _page("new EventSource('http://%TCP%/e').onopen=()=>say('opened')"),
    "webrtc": _page(
        "const ice=[{urls:'stun:%UDP%'},{urls:'turn:%UDP%?transport=udp',username:'a',credential:'b'},"
        "{urls:'turn:%TCP%?transport=tcp',username:'a',credential:'b'}];"
        "function call(w){const p=new w.RTCPeerConnection("
        "{iceServers:ice});p.createDataChannel('x');p.createOffer().then(o=>p.setLocalDescription(o))}call(window);"
        "const f=document.createElement('iframe');document.body.append(f);call(f.contentWindow)"
    ),
    "webtransport": _page("new WebTransport('https://%UDP%/').ready.then(()=>say('opened'),()=>0)"),
    "beacons": _page(
        "navigator.sendBeacon('http://%TCP%/b','x');addEventListener('pagehide',"
        "()=>navigator.sendBeacon('http://%TCP%/bye','x'));"
        "const a=document.createElement('a');a.href='#x';a.ping='http://%TCP%/ping';document.body.append(a);a.click()"
    ),
    "workers": _page(
        "const code=`fetch('http://%TCP%/w',{mode:'no-cors'}).catch(()=>"
        "0);try{importScripts('http://%TCP%/i')}catch(e){};"
        "new WebSocket('ws://%TCP%/');new Worker(URL.createObjectURL(new Blob([\"fetch('http://%TCP%/nested')\"])))`;"
        "const u=URL.createObjectURL(new Blob([code],{"
        "type:'text/javascript'}));new Worker(u);new Worker(u,{type:'module'});"
        "new SharedWorker(u);new Worker('/worker.js');CSS.paintWorklet?.addModule('http://%TCP%/paint').catch(()=>0);"
        "new AudioContext().audioWorklet.addModule('http://%TCP%/audio').catch(()=>0)"
    ),
    "service worker": _page(
        "navigator.serviceWorker?.register('/worker.js').then(()=>say('registered'),()=>say('refused'))"
    ),
    "download": _page(
        "for(const u of ['/ok','data:application/octet-stream,x',"
        "'http://%TCP%/d']){const a=document.createElement('a');a.href=u;"
        "a.download='x';document.body.append(a);a.click()}"
    ),
    "reports": _page(
        "document.body.insertAdjacentHTML('beforeend','<img "
        "src=http://other.test/x.png><script src=http://other.test/x></script>')",
        "",
        "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'; report-uri http://%TCP%/csp\">",
    ),
    "payment, print, share": _page(
        "try{new PaymentRequest([{supportedMethods:'http://%TCP%/pay'}],"
        "{total:{label:'x',amount:{currency:'EUR',value:'1'}}})"
        ".canMakePayment()}catch(e){};navigator.share?.({url:'http://%TCP%/'}).catch(()=>0);print()"
    ),
}
FLOODS = {
    "many requests": _page("for(let i=0;i<5000;i++)fetch('/ok?'+i).catch(()=>0)"),
    "endless requests": _page("setInterval(()=>fetch('/ok?'+Math.random()).catch(()=>0),5)"),
    "endless DOM": _page(
        "setInterval(()=>{for(let i=0;i<2000;i++)document.body.append(document.createElement('b'))},10)"
    ),
    "endless workers": _page("setInterval(()=>new Worker('data:text/javascript,for(;;);'),5)"),
    "endless frames": _page("setInterval(()=>document.body.append(document.createElement('iframe')),2)"),
    "endless list": _page(
        "let n=0;new IntersectionObserver(e=>{for(let i=0;i<9;i++)end.insertAdjacentHTML('beforebegin',"
        "'<p><a href=/a'+n+++'>A headline</a></p>')}).observe(end)",
        "<p id=end>end</p>",
    ),
    "loop": _page("setTimeout(()=>{for(;;);},50)"),
    "loop at once": _page("for(;;);"),
    "loop of promises": _page("(function f(){Promise.resolve().then(f)})()"),
    "memory of arrays": _page(
        "const a=[];setInterval(()=>{for(let i=0;i<50;i++)a.push(new Uint8Array(8<<20).fill(1))},1)"
    ),
    "memory of objects": _page("const a=[];setInterval(()=>{for(let i=0;i<2e5;i++)a.push({x:'y'.repeat(10)+i})},1)"),
    "memory of blobs": _page("const a=[];setInterval(()=>a.push(new Blob([new Uint8Array(32<<20).fill(1)])),1)"),
    "memory of pictures": _page(
        "const a=[];setInterval(()=>{const c=document.createElement('canvas');"
        "c.width=c.height=4000;const x=c.getContext('2d');"
        "x.fillRect(0,0,4000,4000);document.body.append(c);a.push(c)},5)"
    ),
    "storage": _page(
        "const r=indexedDB.open('k',1);r.onupgradeneeded=()=>"
        "r.result.createObjectStore('s');r.onsuccess=()=>setInterval(()=>"
        "r.result.transaction('s','readwrite').objectStore('s').put(new Uint8Array(16<<20).fill(1),Math.random()),5)"
    ),
    "large DOM": _page("const t='x'.repeat(1<<20);for(let i=0;i<900;i++)document.body.append(t)"),
    "deep DOM": _page(
        "let d=document.body;for(let i=0;i<100000;i++){const x=document.createElement('div');d.append(x);d=x}"
    ),
    "dialogs": _page(
        "onbeforeunload=e=>{e.preventDefault();return 'stay'};setInterval(()=>{alert(1);confirm(2);prompt(3)},1)"
    ),
    "history": _page("setInterval(()=>{history.pushState(0,'','/h'+Math.random());location.hash=Math.random()},1)"),
}
FORGERY = _page(
    "for(const [of,name] of [[Element,'outerHTML'],[Element,"
    "'innerHTML'],[Node,'textContent'],[Document,'documentElement']])"
    "Object.defineProperty(of.prototype,name,{get(){return "
    "'FORGED'}});JSON.stringify=()=>'FORGED';String.prototype.replace="
    "Array.from=Document.prototype.querySelectorAll=()=>'FORGED';globalThis.crawl={html:()=>'FORGED',size:()=>1}",
    "<form name=documentElement><input name=outerHTML></form><form name=body></form><img name=querySelectorAll>"
    "<img name=createTreeWalker><a id=crawl></a>",
)


@dataclass
class Listeners:
    """Where nobody may come: TCP on both loopbacks and UDP.

    Attributes:
        names: what stands for each in a page, and its host and port.
        came: a line for each connection or datagram.
    """

    names: dict[str, str] = field(default_factory=dict)
    came: list[str] = field(default_factory=list)

    def fill(self, page: str) -> bytes:
        """Put hosts and ports into a page."""
        for name, place in self.names.items():
            page = page.replace(name, place)
        return page.encode()


@contextlib.contextmanager
def listeners() -> Iterator[Listeners]:
    """Listen until the end of the block."""
    own = Listeners()
    with contextlib.ExitStack() as stack:
        for name, family, host in (("%TCP%", socket.AF_INET, "127.0.0.1"), ("%TCP6%", socket.AF_INET6, "::1")):
            try:
                server = stack.enter_context(socket.create_server((host, 0), family=family))
            except OSError:  # a machine without IPv6
                own.names[name] = "[::1]:9"
                continue
            own.names[name] = (
                f"[{host}]:{server.getsockname()[1]}" if ":" in host else f"{host}:{server.getsockname()[1]}"
            )
            threading.Thread(target=_answer, args=(server, name, own.came), daemon=True).start()
        datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", 0))
        own.names["%UDP%"] = f"127.0.0.1:{datagrams.getsockname()[1]}"
        threading.Thread(target=_note, args=(datagrams, own.came), daemon=True).start()
        yield own


def _answer(server: socket.socket, name: str, came: list[str]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        came.append(name)
        with connection, contextlib.suppress(OSError):
            connection.settimeout(0.5)
            connection.recv(2000)
            head = f"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: {len(BAIT)}\r\n\r\n"
            connection.sendall((head + BAIT).encode())


def _note(datagrams: socket.socket, came: list[str]) -> None:
    with contextlib.suppress(OSError):
        while True:
            datagrams.recv(2000)
            came.append("%UDP%")
