// What the crawl does in a page, in a world of its own: objects here are not those of the page's script. Only names of
// elements can shadow properties of the document (<form name=body>), so these are read by the getters of the prototypes.
const crawl = (() => {
  const getter = (of, name) => Object.getOwnPropertyDescriptor(of.prototype, name).get;
  const root = () => getter(Document, "documentElement").call(document);
  const all = (selector) => Array.from(Document.prototype.querySelectorAll.call(document, selector));
  let changed = performance.now();
  new MutationObserver(() => { changed = performance.now(); })
    .observe(document, { childList: true, subtree: true, characterData: true });

  const MORE = /^(点击|點擊)?(加载|加載|查看|显示|顯示|浏览|瀏覽|更多)(更多|更多(新闻|新聞|内容|內容|文章|资讯|消息))?[.…>»↓▼]*$|^更多(新闻|新聞|内容|內容|文章|资讯|消息)$|^(load|show|view|see) more( (news|stories|posts|articles|results|items))?$|^more (news|stories|posts|articles|results)$|^(load|show) (older|next)( (news|stories|posts|articles))?$|^older (posts|stories|articles)$|^(mehr|weitere)( \S+)? (laden|anzeigen)$|^(voir|charger|afficher)( (plus|davantage))( d['’]\S+| de \S+)?$|^(ver|cargar|mostrar) más( \S+)?$|^(carregar|ver|mostrar) mais( \S+)?$|^(carica|mostra|vedi)( altr[ioe]| di più)( \S+)?$|^(показать|загрузить|смотреть) (ещ[её]|больше)( \S+)?$|^もっと(見る|読み込む)$|^さらに(表示|読み込む)$|^더 ?보기$|^(daha fazla)( \S+)?$|^(xem thêm)( \S+)?$|^(meer laden|toon meer)$|^(عرض|تحميل) المزيد$/i;
  const REST = /^(点击|點擊)?(展开|展開|阅读|閱讀|查看|显示|顯示|展开阅读|展開閱讀|继续阅读|繼續閱讀)(全文|剩余|余下)(内容|文章|全文)?[.…>»↓▼]*$|^(展开|展開|继续阅读|繼續閱讀|阅读更多|閱讀更多)$|^(continue reading|read (more|on|full (story|article)|the (full|whole|rest)( story| article)?)|show (full|whole|more)( (text|story|article))?|expand( article)?)[.…>»]*$|^(weiterlesen|mehr lesen|ganzen artikel (lesen|anzeigen))$|^(lire (la suite|plus)|afficher la suite)$|^(leer más|seguir leyendo)$|^(ler mais|continue lendo|continuar lendo)$|^(leggi (tutto|di più)|continua a leggere)$|^(читать (далее|полностью|дальше)|показать полностью)$|^(続きを(読む|見る)|全文(を読む|表示))$|^(더 ?보기|전체 ?보기|계속 ?읽기)$|^(devamını oku)$|^(đọc tiếp)$|^(lees verder|verder lezen)$/i;
  const REJECT = /^(reject|decline|refuse|deny|disagree)( (all|cookies|all cookies|and close|optional cookies|non-essential( cookies)?))?$|^i (do not|don['’]t) (agree|accept|consent)$|^(continue without (accepting|agreeing|consent)|without consent)$|^((use|accept|allow)? ?(only )?(strictly )?(necessary|essential|required)( cookies)?( only)?)$|^(全部)?(拒绝|拒絕|不同意|不接受)(全部|所有)?(cookies?)?$|^仅(接受|使用)?必要(的)?(cookies?)?$|^(alle )?ablehnen$|^alles ablehnen$|^(nur )?(notwendige|erforderliche|essenzielle)( cookies)?( akzeptieren| zulassen)?$|^(tout refuser|refuser( tout)?|continuer sans accepter)$|^(rechazar( todo| todas)?|no aceptar)$|^(rejeitar( tudo| todos)?|recusar( tudo)?)$|^(rifiuta( tutt[oi])?|continua senza accettare)$|^(отклонить( вс[её])?|отказаться)$|^(すべて)?拒否(する)?$|^(모두 )?거부$|^(alles )?weigeren$|^(reddet|tümünü reddet)$|^từ chối$/i;
  const CLOSE = /^(close|schließen|fermer|cerrar|fechar|chiudi|закрыть|关闭|關閉|閉じる|닫기|[×✕✖xX])$/i;
  const CONSENT = /cookie|consent|privacy|gdpr|tracking|datenschutz|confidentialité|privacidad|隐私|隱私|个人信息|個人資料|個人情報/i;
  const PRESSED = "a, button, [role=button], summary, input[type=button], input[type=submit], [onclick], [class*=more], [class*=More], [class*=expand], [class*=unfold], [class*=open]";

  const label = (element) => {
    const name = element instanceof HTMLInputElement ? element.value : getter(HTMLElement, "innerText").call(element);
    return (name || element.getAttribute("aria-label") || "").replace(/\s+/g, " ").trim();
  };
  const seen = (element) => element instanceof HTMLElement && element.getClientRects().length > 0;
  const short = (element) => getter(Node, "textContent").call(element).length <= 120;
  const found = (pattern, within = PRESSED) =>
    all(within).filter((each) => short(each) && seen(each) && pattern.test(label(each)));
  const inner = (elements) => elements.filter((each) => !elements.some((other) => other !== each && Node.prototype.contains.call(each, other)));
  const press = (element) => { HTMLElement.prototype.click.call(element); return true; };
  const stays = (element) => {
    const link = Element.prototype.closest.call(element, "a[href]");
    return !link || link.pathname + link.search === location.pathname + location.search || !/^https?:$/.test(link.protocol);
  };
  const aboutConsent = (element) => {
    for (let at = element, step = 0; at && at !== root() && step < 6; at = getter(Node, "parentElement").call(at), step++) {
      const text = getter(Node, "textContent").call(at);
      if (text.length > 6000) return false;
      if (CONSENT.test(text) || CONSENT.test(`${at.id} ${at.getAttribute("class")}`)) return true;
    }
    return false;
  };
  // Two frames, after which observers of what is seen have been told; a timer where no frame is drawn.
  const frame = () => new Promise((done) => { setTimeout(done, 1000); requestAnimationFrame(() => requestAnimationFrame(() => done())); });

  return {
    frame,
    quietFor: () => (getter(Document, "readyState").call(document) === "complete" ? performance.now() - changed : -1),
    links: () => new Set(all("a[href]").map((a) => a.href)).size,
    height: () => Math.max(root().scrollHeight, getter(Document, "body").call(document)?.scrollHeight ?? 0),
    refuseConsent() {
      const [no] = inner(found(REJECT)).filter(aboutConsent);
      const [close] = no ? [] : inner(found(CLOSE)).filter(aboutConsent);
      return no || close ? press(no ?? close) : false;
    },
    unfold() {
      const some = inner(found(REST)).filter((each) => stays(each)).slice(0, 5);
      some.forEach(press);
      return some.length > 0;
    },
    loadMore() {
      const some = inner(found(MORE));
      return some.length > 0 && press(some[some.length - 1]);
    },
    async scroll() {
      scrollTo(0, 0);
      await frame();
      scrollTo(0, crawl.height());
      for (const each of all("main, section, div, ul")) {
        if (each.scrollHeight > each.clientHeight + 200 && each.clientHeight > 300 && /auto|scroll/.test(getComputedStyle(each).overflowY))
          each.scrollTop = each.scrollHeight;
      }
      await frame();
    },
    // Open shadow trees are copied to where they are shown: markup leaves them out.
    size() {
      const shadows = (within) => {
        for (const host of within.querySelectorAll("*")) {
          if (!host.shadowRoot) continue;
          shadows(host.shadowRoot);
          for (const node of Array.from(host.shadowRoot.childNodes))
            if (!(node instanceof HTMLStyleElement || node instanceof HTMLScriptElement)) host.append(node.cloneNode(true));
        }
      };
      if (root()) shadows(root());
      return crawl.html().length;
    },
    html: () => (root() ? "<!DOCTYPE html>" + getter(Element, "outerHTML").call(root()) : ""),
  };
})();
