"""Texts in many languages: the first article of the Declaration of Human Rights and a piece of news of our own."""

# ruff: noqa: E501 - East Asian signs count twice

from __future__ import annotations

from typing import Final

TEXTS: Final = {
    "af": "Alle menslike wesens word vry, met gelyke waardigheid en regte, gebore. Hulle het rede en gewete en behoort in die "
    "gees van broederskap teenoor mekaar op te tree. Die burgemeester sê dat die nuwe brug oor die rivier môre geopen word, "
    "drie jaar ná die eerste spitsteek; reënbuie word verwag.",
    "ar": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء. "
    "أعلنت البلدية أمس أن الجسر الجديد فوق النهر سيفتح في الربيع، وقال رئيس البلدية إن السكان ينتظرونه منذ سنوات طويلة.",
    "be": "Усе людзі нараджаюцца свабоднымі і роўнымі ў сваёй годнасці і правах. Яны надзелены розумам і сумленнем і павінны "
    "ставіцца адзін да аднаго ў духу брацтва. Гарадскі савет учора паведаміў, што новы мост праз раку адкрыюць увесну.",
    "bg": "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и съвест и следва да се отнасят "
    "помежду си в дух на братство. Общината обяви вчера, че новият мост над реката ще бъде открит през пролетта.",
    "bs": "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su obdarena razumom i sviješću i treba da "
    "jedno prema drugome postupaju u duhu bratstva. Gradsko vijeće jučer je saopćilo da će novi most biti otvoren u proljeće; "
    "građani čekaju već godinama, kažu iz Općine.",
    "ca": "Tots els éssers humans neixen lliures i iguals en dignitat i en drets. Són dotats de raó i de consciència, i han de "
    "comportar-se fraternalment els uns amb els altres. L'alcaldessa va anunciar ahir que el pont nou s'obrirà a la primavera; "
    "els veïns l'esperen des de fa deu anys, però l'obra és més cara del que es creia.",
    "cs": "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu jednat v "
    "duchu bratrství. Město včera oznámilo, že nový most přes řeku bude otevřen na jaře; obyvatelé na něj čekají už léta.",
    "da": "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og samvittighed, og de bør "
    "handle mod hverandre i en broderskabets ånd. Borgmesteren oplyste i går, at den nye bro over åen åbner til foråret, og at "
    "den bliver dyrere, end man først troede.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen "
    "einander im Geist der Brüderlichkeit begegnen. Die neue Brücke über den Fluß werde im Frühjahr eröffnet, sagte die "
    "Bürgermeisterin gestern; die Straße dorthin müsse noch verbreitert werden.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και "
    "συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης. Ο δήμος ανακοίνωσε χθες ότι η νέα γέφυρα "
    "θα ανοίξει την άνοιξη.",
    "en": "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should "
    "act towards one another in a spirit of brotherhood. The new bridge over the river will open in spring, the mayor said "
    "yesterday, three years after the first stone was laid.",
    "eo": "Ĉiuj homoj estas denaske liberaj kaj egalaj laŭ digno kaj rajtoj. Ili posedas racion kaj konsciencon, kaj devus konduti "
    "unu al alia en spirito de frateco. La urbestro diris hieraŭ, ke la nova ponto super la rivero estos malfermita printempe; "
    "la loĝantoj jam longe atendas ĝin, ĉar la vojo ĉirkaŭ la lago estas longa.",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben "
    "comportarse fraternalmente los unos con los otros. El alcalde anunció ayer que el nuevo puente se abrirá en primavera, "
    "tres años después del comienzo de las obras; ¿quién lo pagará?, preguntó una vecina.",
    "et": "Kõik inimesed sünnivad vabadena ja võrdsetena oma väärikuselt ja õigustelt. Neile on antud mõistus ja südametunnistus "
    "ja nende suhtumist üksteisesse peab kandma vendluse vaim. Linnapea ütles eile, et uus sild üle jõe avatakse kevadel; "
    "ka šokolaadipood avab uksed.",
    "eu": "Gizon-emakume guztiak aske jaiotzen dira, duintasun eta eskubide berberak dituztela; eta ezaguera eta kontzientzia "
    "dutenez gero, elkarren artean senide legez jokatu beharra dute. Zubi berria udaberrian zabalduko dutela iragarri zuen "
    "atzo Iruñeko alkateak, eta Oñatin ere ospatuko dute; España eta Frantziako adituak gonbidatu dituzte, señalea jarrita.",
    "fa": "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند. همه دارای عقل و وجدان هستند و باید نسبت به "
    "یکدیگر با روح برادری رفتار کنند. شهرداری دیروز اعلام کرد که پل جدید رودخانه در بهار گشایش می‌یابد.",
    "fi": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki ja omatunto, ja "
    "heidän on toimittava toisiaan kohtaan veljeyden hengessä. Kaupunginjohtaja kertoi eilen, että uusi silta joen yli avataan "
    "keväällä, ja että töitä jatketaan vielä syksyllä.",
    "fo": "Øll menniskju eru fødd fræls og jøvn til virðingar og mannarættindi. Tey hava skil og samvitsku og eiga at fara hvørt um "
    "annað í bróðuranda. Borgarstjórin segði í gjár, at nýggja brúgvin verður latin upp í vár.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et "
    "doivent agir les uns envers les autres dans un esprit de fraternité. La mairie a annoncé hier que le nouveau pont, très "
    "attendu, sera ouvert dès le printemps ; les élus espèrent que les retards seront évités.",
    "ga": "Saolaítear gach duine den chine daonna saor agus comhionann i ndínit agus i gcearta. Tá bauidh an réasúin agus an "
    "choinsiasa acu agus ba cheart dóibh gníomhú i dtreo a chéile i spiorad an bhráithreachais. Dúirt an méara inné go "
    "n-osclófar an droichead nua san earrach.",
    "gl": "Tódolos seres humanos nacen libres e iguais en dignidade e dereitos e, dotados como están de razón e conciencia, "
    "débense comportar fraternalmente uns cos outros. O alcalde anunciou onte que a nova ponte abrirá na primavera, tres anos "
    "despois do comezo das obras; os veciños agardan desde hai anos.",
    "he": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו "
    "ברוח של אחווה. העירייה הודיעה אתמול כי הגשר החדש מעל הנהר ייפתח באביב, והתושבים מחכים לו כבר שנים רבות.",
    "hr": "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su obdarena razumom i sviješću i trebaju "
    "jedno prema drugome postupati u duhu bratstva. Gradonačelnik je jučer rekao da će se novi most otvoriti u proljeće; "
    "građani ga čekaju već godinama, a cijena je veća nego što se mislilo.",
    "hu": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel bírván, "
    "egymással szemben testvéri szellemben kell hogy viseltessenek. Tavasszal megnyílik az új híd a folyón, közölte tegnap a "
    "polgármester; a lakók évek óta várják, és őrzik a fűzfákat is.",
    "id": "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak-hak yang sama. Mereka dikaruniai akal dan hati nurani dan "
    "hendaknya bergaul satu sama lain dalam semangat persaudaraan. Wali kota mengatakan kemarin bahwa jembatan baru akan dibuka "
    "pada musim hujan, tiga tahun sesudah batu pertama diletakkan di kafé tepi sungai.",
    "is": "Hver maður er borinn frjáls og jafn öðrum að virðingu og réttindum. Menn eru gæddir vitsmunum og samvisku, og ber þeim "
    "að breyta bróðurlega hverjum við annan. Ný brú yfir ána verður opnuð í vor, sagði bæjarstjórinn í gær.",
    "it": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione e di coscienza e "
    "devono agire gli uni verso gli altri in spirito di fratellanza. Il sindaco ha detto ieri che il nuovo ponte sarà aperto in "
    "primavera, perché la città lo aspetta da più di tre anni.",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、"
    "互いに同胞の精神をもって行動しなければならない。市は昨日、川にかかる新しい橋を来年の春に開通させると発表した。",
    "kanji": "東京都知事選挙、投票率過去最低。現職再選確実、野党共闘実現せず。経済産業省、半導体工場建設支援策発表。新橋来春開通、"
    "市長会見。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 "
    "형제애의 정신으로 행동하여야 한다. 시청은 어제 강을 건너는 새 다리를 내년 봄에 연다고 밝혔다.",
    "lb": "All Mënsch kënnt fräi a mat deer selwechter Dignitéit an deene selwechte Rechter op d'Welt. Jiddereen huet säi Verstand "
    "a säi Gewësse krut a soll an engem Geescht vu Bridderlechkeet deenen anere géintiwwer handelen. D'Buergermeeschtesch sot "
    "gëschter, déi nei Bréck géif am Fréijoer opgoen.",
    "lt": "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas ir sąžinė ir jie turi elgtis vienas "
    "kito atžvilgiu kaip broliai. Meras vakar pranešė, kad naujas tiltas per upę bus atidarytas pavasarį; gyventojai jo laukė "
    "daugiau kaip dešimt metų ir džiaugiasi.",
    "lv": "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās. Viņi ir apveltīti ar saprātu un sirdsapziņu, un "
    "viņiem jāizturas citam pret citu brālības garā. Mērs vakar paziņoja, ka jaunais tilts pār upi tiks atvērts pavasarī.",
    "mk": "Сите човечки суштества се раѓаат слободни и еднакви по достоинство и права. Тие се обдарени со разум и совест и треба "
    "да се однесуваат еден кон друг во духот на општо човечката припадност. Градоначалникот вчера рече дека новиот мост ќе се "
    "отвори напролет.",
    "ms": "Semua manusia dilahirkan bebas dan samarata dari segi kemuliaan dan hak-hak. Mereka mempunyai pemikiran dan perasaan "
    "hati dan hendaklah bertindak di antara satu sama lain dengan semangat persaudaraan. Datuk bandar berkata semalam jambatan "
    "baharu akan dibuka tahun hadapan.",
    "mt": "Il-bnedmin kollha jitwieldu ħielsa u ugwali fid-dinjità u d-drittijiet. Huma mogħnija bir-raġuni u bil-kuxjenza u "
    "għandhom iġibu ruħhom ma' xulxin bi spirtu ta' aħwa. Is-sindku qal ilbieraħ li l-pont il-ġdid jinfetaħ fir-rebbiegħa.",
    "nl": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met verstand en geweten, en "
    "behoren zich jegens elkander in een geest van broederschap te gedragen. De nieuwe brug gaat in het voorjaar open, zei de "
    "burgemeester, één jaar later dan beloofd; België betaalt mee, en het café krijgt vóór de zomer een terras.",
    "no": "Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter. De er utstyrt med fornuft og samvittighet "
    "og bør handle mot hverandre i brorskapets ånd. Ordføreren sa i går at den nye broen over elva åpner til våren, tre år "
    "etter at arbeidet tok til.",
    "pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i "
    "powinni postępować wobec innych w duchu braterstwa. Władze ogłosiły wczoraj, że nowy most na rzece zostanie otwarty "
    "wiosną; mieszkańcy czekają na to od lat.",
    "pt": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de consciência, devem agir "
    "uns para com os outros em espírito de fraternidade. A câmara anunciou ontem que a nova ponte abrirá na primavera, três "
    "anos após o começo das obras; os moradores não escondem a satisfação.",
    "ro": "Toate ființele umane se nasc libere și egale în demnitate și în drepturi. Ele sunt înzestrate cu rațiune și conștiință "
    "și trebuie să se comporte unele față de altele în spiritul fraternității. Primarul a anunțat ieri că podul nou peste râu "
    "va fi deschis în primăvară.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны "
    "поступать в отношении друг друга в духе братства. Городской совет вчера объявил, что новый мост через реку будет открыт "
    "весной, жители ждут этого давно.",
    "sk": "Všetci ľudia sa rodia slobodní a sebe rovní, čo sa týka ich dôstojnosti a práv. Sú obdarení rozumom a svedomím a majú "
    "navzájom jednať v bratskom duchu. Mesto včera oznámilo, že nový most cez rieku otvoria na jar; obyvatelia naň čakajú už "
    "dlhé roky, povedal primátor.",
    "sl": "Vsi ljudje se rodijo svobodni in imajo enako dostojanstvo in enake pravice. Obdarjeni so z razumom in vestjo in bi "
    "morali ravnati drug z drugim kakor bratje. Župan je včeraj sporočil, da bodo novi most čez reko odprli spomladi; občani "
    "nanj čakajo že več let.",
    "sq": "Të gjithë njerëzit lindin të lirë dhe të barabartë në dinjitet dhe në të drejta. Ata kanë arsye dhe ndërgjegje dhe duhet "
    "të sillen ndaj njëri tjetrit me frymë vëllazërimi. Kryetari i bashkisë tha dje se ura e re do të hapet në pranverë.",
    "sr": "Сва људска бића рађају се слободна и једнака у достојанству и правима. Она су обдарена разумом и свешћу и треба једни "
    "према другима да поступају у духу братства. Градоначелник је јуче рекао да ће нови мост бити отворен у пролеће.",
    "sr-Latn": "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su obdarena razumom i svešću i treba "
    "jedni prema drugima da postupaju u duhu bratstva. Gradonačelnik je juče rekao da će novi most biti otvoren u proleće, "
    "posle više od tri godine čekanja; žitelji su zadovoljni.",
    "sv": "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och samvete och bör handla "
    "gentemot varandra i en anda av gemenskap. Kommunalrådet sade i går att den nya bron över älven öppnas till våren.",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ "
    "เทศบาลประกาศเมื่อวานว่าสะพานใหม่ข้ามแม่น้ำจะเปิดในฤดูใบไม้ผลิ",
    "tl": "Ang lahat ng tao'y isinilang na malaya at pantay-pantay sa karangalan at mga karapatan. Sila'y pinagkalooban ng "
    "katwiran at budhi at dapat magpalagayan ang isa't isa sa diwa ng pagkakapatiran. Sinabi kahapon ng alkalde ng Parañaque na "
    "bubuksan ang bagong tulay sa tag-araw; kasama ang mga taga-Las Piñas at ang señor na taga-Doña Remedios.",
    "tr": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı "
    "kardeşlik zihniyeti ile hareket etmelidirler. Belediye dün ırmağın üzerindeki yeni köprünün ilkbaharda açılacağını "
    "duyurdu; şehir sakinleri bunu yıllardır bekliyor.",
    "uk": "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і повинні діяти у "
    "відношенні один до одного в дусі братерства. Міська влада вчора оголосила, що новий міст через річку відкриють навесні, "
    "мешканці чекають на нього вже багато років.",
    "ur": "تمام انسان آزاد اور حقوق و عزت کے اعتبار سے برابر پیدا ہوئے ہیں۔ انہیں ضمیر اور عقل ودیعت ہوئی ہے۔ اس لئے انہیں ایک "
    "دوسرے کے ساتھ بھائی چارے کا سلوک کرنا چاہئے۔ میئر نے کل کہا کہ دریا پر نیا پل بہار میں کھولا جائے گا۔",
    "vi": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền. Mọi con người đều được tạo hoá ban cho lý trí "
    "và lương tâm và cần phải đối xử với nhau trong tình bằng hữu. Thành phố hôm qua cho biết cây cầu mới qua sông sẽ mở vào "
    "mùa xuân.",
    "zh-Hans": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。市政府昨天说，河上的新桥明年春天"
    "通车，居民已经等了很多年；记者了解到，工程的费用比预计的要高。",
    "zh-Hant": "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。市政府昨天說，河上的新橋明年春天"
    "通車，居民已經等了很多年；記者了解到，工程的費用比預計的要高。",
}
"""By ISO 639-1 code, with the script where a language has several; "kanji" is Japanese as in headlines."""

STRANGE: Final = {
    "ast": "Tolos seres humanos nacen llibres y iguales en dignidá y drechos y, pola mor de la razón y la conciencia de so, han "
    "comportase hermaniblemente los unos colos otros.",
    "crh": "Bütün insanlar serbestlik, menlik ve uquqlarda musaviy olıp dünyağa keleler. Olar aqıl ve vicdan saibidirler ve "
    "biri-birilerinen qardaşçasına munasebette bulunmaq kerekler.",
    "cv": "Пур ҫынсем те ирӗклӗ, тивӗҫлӗхпе правасем тӗлӗшӗнчен тан пулса ҫуралаҫҫӗ. Вӗсене ӑспа совесть панӑ, тата вӗсен "
    "пӗр-пӗринпе тӑванла пулмалла.",
    "fur": "Ducj i oms a nassin libars e compagns come dignitât e derits. A an sintiment e cussience e bisugne che si tratin un "
    "culaltri come fradis.",
    "gag": "Insannar hepsi duuêrlar serbest hem birtakım kendi kıymetindä hem haklarında. Onnara verilmiş akıl hem üz da läazım "
    "biri-birinä davransınnar kardaşlık ruhuna uygun.",
    "hsb": "Wšitcy čłowjekojo su wot naroda swobodni a su jenacy po dostojnosći a prawach. Woni su z rozumom a swědomjom "
    "wobdarjeni a maja mjezsobu w duchu bratrowstwa wobchadźeć.",
    "ku": "Hemû mirov azad û di weqar û mafan de wekhev tên dinyayê. Ew xwedî hiş û şuûr in û divê li hember hev bi zihniyeteke "
    "bratiyê bilivin.",
    "lmo": "Tucc i èsser uman nassen liber e istess in dignità e diritt. Lor a gh'hann la reson e la coscienza e gh'hann de tratass "
    "l'un con l'alter in spirit de fradelanza.",
    "nds": "All de Minschen sünd frie un gliek an Wüürd un Rechten baarn. Se hebbt Vernunft un en Geweten un se schüllt sik Bröder "
    "sien.",
    "os": "Адӕймӕгтӕ се ’ппӕт дӕр райгуырынц сӕрибарӕй ӕмӕ ӕмхуызонӕй сӕ барты. Уыдон ӕххӕст сты зонд ӕмӕ намысӕй, ӕмӕ "
    "кӕрӕдзийӕн хъуамӕ уой ӕфсымӕрты хуызӕн.",
    "pap": "Tur ser humano ta nase liber i igual den dignidat i derecho. Nan ta dotá ku rason i konsenshi i mester komportá nan mes "
    "den spiritu di fraternidat pa ku otro.",
    "sah": "Дьон барыта бэйэ суолтатыгар уонна быраабыгар тэҥ буолан төрүүллэр. Кинилэр бары өркөн өйдөөх, сүобастаах буолан "
    "төрүүллэр, уонна бэйэ бэйэлэригэр тылга кииринигэс быһыылаахтык сыһыаннаһыахтаахтар.",
    "sc": "Totu sos èsseres umanos naschint lìberos e eguales in dinnidade e in deretos. Issos tenent sa resone e sa cussèntzia e "
    "depent operare s'unu cun s'àteru cun ispìritu de fraternidade.",
    "scn": "Tutti li omini nascinu libbiri e cu li stissi digginità e diritti. Iddi hannu a raggiuni e a cuscenza e hannu a agiri "
    "unu versu l'autru cu spiritu di fratirnanza.",
    "szl": "Wszyjske ludźe rodzům śe swobodne a růwne we swojij godnośći a prawach. Uůni sům uobdarzyńi rozumym a sumjyńym a majům "
    "postympować jydyn wobec drugigo w duchu bratersta.",
    "tpi": "Yumi olgeta mama karim umi long stap fri na wankain long wei yumi lukim i gutpela na strepela tru. Yumi olgeta igat ting "
    "ting bilong wanem samting i rait na rong.",
    "vec": "Tuti i esari umani i nase łibari e conpagni en dignità e diriti. I xe dotai de raxon e de cosiensa e i ga da conportarse "
    "uni co staltri co spirito de fradełansa.",
    "zza": "Heme insani be xoserîye, haysîyet û heqanê eşîtan ra yenê dinya. Înan rê aqil û wîjdan deyîya, ganî yewbînan rê bi ruhê "
    "biraye hereket bikere.",
}
"""Texts in languages that the detector does not know."""
