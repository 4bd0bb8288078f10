import type { Messages } from './en.js';

/** German; people are addressed as "Sie". */
export const de: Messages = {
  sms: '{code} ist Ihr Code für {merchant}. Geben Sie ihn an niemanden weiter.',
  smsLong:
    '{code} ist Ihr Code für {merchant}. Er gilt 24 Stunden in jedem Browser. Geben Sie ihn an niemanden weiter.',

  title: 'Registrierung',
  loading: 'Einen Moment…',
  noScript: 'Diese Seite braucht JavaScript. Bitte schalten Sie es ein und laden Sie die Seite neu.',
  steps: 'Schritte',
  stepOf: 'Schritt {step} von {steps}',
  stepPhone: 'Telefon',
  stepDetails: 'Angaben',
  stepDocuments: 'Dokumente',
  busy: 'Einen Moment…',
  sandbox: 'Testumgebung.',
  opensTab: 'öffnet sich in einem neuen Tab',

  phoneHeading: 'Bestätigen Sie Ihre Telefonnummer',
  phoneLead: '{merchant} richtet Ihr Konto mit disburse ein. Zuerst schicken wir einen Code auf Ihr Telefon.',
  phoneLabel: 'Telefonnummer',
  phoneMissing: 'Geben Sie Ihre Telefonnummer mit + und Ländervorwahl ein, zum Beispiel +49.',
  phoneOther:
    'Das ist nicht die Nummer, die {merchant} von Ihnen hat. Prüfen Sie sie oder bitten Sie {merchant}, sie zu ändern.',
  phoneUnreachable:
    'An diese Nummer können wir keine Nachricht senden. Bitten Sie {merchant}, eine zu hinterlegen, die SMS empfängt.',
  phoneSubmit: 'Code senden',

  codeHeading: 'Geben Sie den Code ein',
  codeLead: 'Wir haben einen sechsstelligen Code an {phone} gesendet. Er ist zehn Minuten gültig.',
  codeLeadLong:
    'Wir haben einen 18-stelligen Code an {phone} gesendet. Er ist 24 Stunden in jedem Browser gültig.',
  codeLabel: 'Code',
  codeMissing: 'Geben Sie alle sechs Ziffern des Codes ein.',
  codeMissingLong: 'Geben Sie alle 18 Ziffern des Codes ein.',
  codeWrong: 'Der Code stimmt nicht. Sehen Sie in der Nachricht nach und versuchen Sie es noch einmal.',
  codeWrongLeft: 'Der Code stimmt nicht. Sie haben noch {left} Versuche.',
  codeWrongLast: 'Der Code stimmt nicht. Sie haben noch einen Versuch.',
  codeSpent: 'Dieser Code ist nicht mehr gültig. Fordern Sie einen neuen an.',
  codeSentBefore: 'Wir haben Ihnen gerade einen Code gesendet. Bitte verwenden Sie diesen.',
  codeUseLong:
    'Heute können wir an diese Nummer keine weiteren Nachrichten senden. Geben Sie den 18-stelligen Code ein, den wir Ihnen bereits gesendet haben.',
  codeSentAgain: 'Wir haben einen neuen Code gesendet.',
  codeSubmit: 'Bestätigen',
  codeAgain: 'Neuen Code senden',
  codeAgainIn: 'Neuen Code senden in {seconds} s',
  codeBack: 'Zurück zur Telefonnummer',
  codeSandbox: 'In der Testumgebung werden keine Nachrichten gesendet. Ihr Code ist {code}.',
  codeSandboxGone:
    'In der Testumgebung werden keine Nachrichten gesendet, und dieser Code ist abgelaufen. Fordern Sie einen neuen an.',

  detailsHeading: 'Ihre Angaben',
  detailsLead: 'Geben Sie alles genau so ein, wie es in Ihrem Pass oder Personalausweis steht.',
  detailsSandbox:
    'Mit dem Nachnamen {rejected} schlägt die Identitätsprüfung fehl, mit {review} bleibt sie offen, mit {card} schlägt die erste Karte fehl. Mit jedem anderen Namen gelingt alles.',
  firstNameLabel: 'Vorname',
  firstNameMissing: 'Geben Sie Ihren Vornamen ein.',
  firstNameLetters: 'Geben Sie Ihren Vornamen in Buchstaben ein.',
  lastNameLabel: 'Nachname',
  lastNameMissing: 'Geben Sie Ihren Nachnamen ein.',
  lastNameLetters: 'Geben Sie Ihren Nachnamen in Buchstaben ein.',
  oneName: 'Ich habe nur einen Namen',
  nameLabel: 'Name',
  nameMissing: 'Geben Sie Ihren Namen ein.',
  nameLetters: 'Geben Sie Ihren Namen in Buchstaben ein.',
  birthLabel: 'Geburtsdatum',
  birthHint: 'Sie müssen mindestens {age} Jahre alt sein.',
  birthDay: 'Tag',
  birthMonth: 'Monat',
  birthYearLabel: 'Jahr',
  birthMissing: 'Geben Sie Ihr Geburtsdatum ein.',
  birthIncomplete: 'Geben Sie Tag, Monat und Jahr ein.',
  birthYear: 'Geben Sie das Jahr vierstellig ein, zum Beispiel 1985.',
  birthImpossible: 'Dieses Datum gibt es nicht. Prüfen Sie Tag und Monat.',
  birthPast: 'Prüfen Sie das Jahr: Es muss zwischen 1900 und heute liegen.',
  birthTooYoung: 'Für die Registrierung müssen Sie mindestens {age} Jahre alt sein.',
  emailLabel: 'E-Mail',
  emailHint: 'So ist sie bei {merchant} hinterlegt.',
  consent: 'Ich stimme den {terms} zu und habe die {privacy} gelesen.',
  consentTerms: 'Nutzungsbedingungen',
  consentPrivacy: 'Datenschutzerklärung',
  consentVersions: 'Nutzungsbedingungen: Version {terms}. Datenschutzerklärung: Version {privacy}.',
  consentWhy:
    '{merchant} verwendet disburse, um Ihre Identität zu prüfen und Ihnen Wallet und Karte bereitzustellen.',
  consentMissing:
    'Um fortzufahren, stimmen Sie den Nutzungsbedingungen zu und lesen Sie die Datenschutzerklärung.',
  consentChanged:
    'Die Nutzungsbedingungen oder die Datenschutzerklärung haben sich geändert. Bitte lesen Sie sie noch einmal und stimmen Sie zu.',
  detailsSubmit: 'Weiter',

  documentsHeading: 'Fotos von Ihrem Dokument und Ihrem Gesicht',
  documentsLead:
    'Wir vergleichen Ihr Gesicht mit dem Foto auf Ihrem Dokument. {merchant} sieht diese Fotos nicht.',
  documentsKept:
    'Ein Dienst für Identitätsprüfung prüft die Fotos. Wir löschen unsere Kopien, sobald er sie erhalten hat, und bewahren sie höchstens {days} auf.',
  documentsKeptBy:
    '{provider} prüft die Fotos. Wir löschen unsere Kopien, sobald {provider} sie erhalten hat, und bewahren sie höchstens {days} auf.',
  documentsKeptSandbox:
    'In der Testumgebung werden Fotos nicht geprüft. Sie werden nach der simulierten Prüfung gelöscht und höchstens {days} aufbewahrt.',
  documentsKind: 'Welches Dokument verwenden Sie?',
  documentsUnchosen: 'Wählen Sie zuerst ein Dokument.',
  documentsPassport: 'Reisepass',
  documentsIdCard: 'Personalausweis',
  documentsLicence: 'Führerschein',
  documentsPhotos: 'Fotos',
  documentsDone: 'Aufgenommen',
  documentsNeeded: 'Fehlt noch',
  documentsBegin: 'Fotos aufnehmen',
  documentsNext: 'Nächstes Foto aufnehmen',
  documentsSubmit: 'Fotos absenden',
  documentsRetake: 'Neu aufnehmen',
  documentsChange: 'Angaben ändern',
  documentFront: 'Vorderseite des Dokuments',
  documentPassport: 'Seite mit dem Passfoto',
  documentBack: 'Rückseite des Dokuments',
  selfie: 'Foto von Ihrem Gesicht',

  captureFrontHelp:
    'Legen Sie das Dokument auf eine dunkle, glatte Fläche. Alle vier Ecken müssen sichtbar sein.',
  captureBackHelp: 'Drehen Sie das Dokument um. Alle vier Ecken müssen sichtbar sein.',
  captureSelfieHelp: 'Sehen Sie bei gutem Licht gerade in die Kamera, ohne Mütze und Sonnenbrille.',
  captureStarting: 'Die Kamera startet. Ihr Browser bittet möglicherweise um Erlaubnis.',
  captureLive: 'Kameravorschau',
  captureTake: 'Foto aufnehmen',
  capturePhoto: 'Das aufgenommene Foto',
  captureCheck: 'Ist alles scharf und gut zu lesen?',
  captureCheckSelfie: 'Ist Ihr ganzes Gesicht gut zu sehen?',
  captureUse: 'Dieses Foto verwenden',
  captureAgain: 'Noch einmal aufnehmen',
  captureUpload: 'Stattdessen ein Foto hochladen',
  captureUploadOnly: 'Ein Foto hochladen',
  captureCameraAgain: 'Kamera noch einmal versuchen',
  captureBack: 'Zurück zur Übersicht',
  captureSample: 'Beispielfoto verwenden',
  captureSandbox: 'Jedes Foto genügt: Niemand prüft es.',

  cameraRefused:
    'Die Kamera ist für diese Seite gesperrt. Erlauben Sie sie in den Einstellungen Ihres Browsers (das Symbol neben der Adresse) und versuchen Sie es noch einmal, oder laden Sie ein Foto hoch.',
  cameraNotDelegated:
    'Die Seite, die dieses Formular zeigt, gibt die Kamera nicht frei. Laden Sie stattdessen ein Foto hoch.',
  cameraInsecure: 'Die Kamera braucht eine sichere Verbindung (https). Laden Sie stattdessen ein Foto hoch.',
  cameraNone: 'Dieses Gerät hat keine Kamera. Laden Sie stattdessen ein Foto hoch.',
  cameraBusy:
    'Ein anderes Programm oder ein anderer Tab verwendet die Kamera. Schließen Sie es und versuchen Sie es noch einmal, oder laden Sie ein Foto hoch.',
  cameraUnknown:
    'Die Kamera ließ sich nicht starten. Versuchen Sie es noch einmal oder laden Sie ein Foto hoch.',

  imageHeic:
    'Das ist ein HEIC-Foto, das Ihr Browser nicht öffnen kann. Wählen Sie ein JPEG oder PNG, oder nehmen Sie das Foto mit der Kamera auf.',
  imageUnreadable: 'Diese Datei lässt sich nicht als Foto öffnen. Wählen Sie ein JPEG oder PNG.',
  imageSmall: 'Dieses Foto ist zu klein, um etwas zu erkennen. Wählen Sie ein größeres.',
  imageLarge: 'Dieses Foto ist zu groß. Nehmen Sie es noch einmal auf oder wählen Sie ein kleineres.',
  imageRefused:
    'Dieses Foto ist nicht verwendbar. Nehmen Sie es noch einmal auf oder wählen Sie ein anderes.',
  imagesMissing: 'Einige Fotos sind nicht angekommen. Bitte nehmen Sie sie noch einmal auf.',

  reviewHeading: 'Ihre Dokumente werden geprüft',
  reviewText:
    'Das dauert meist wenige Minuten, kann aber bis zu einem Tag dauern. Sie können diese Seite schließen und denselben Link später öffnen, um nachzusehen.',
  reviewSince: 'Abgeschickt am {time}',
  reviewLost: 'Die Verbindung ist unterbrochen. Wir verbinden Sie wieder…',

  failedHeading: 'Wir konnten Ihre Identität nicht bestätigen',
  failedText:
    'Prüfen Sie Ihre Angaben und nehmen Sie die Fotos noch einmal auf, bei gutem Licht und ohne Spiegelungen.',
  failedReason: 'Die Identitätsprüfung meldet: {reason}',
  failedRetry: 'Noch einmal versuchen',

  cardFailedHeading: 'Ihre Karte konnte nicht ausgestellt werden',
  cardFailedText: 'Ihre Identität ist bestätigt, und Ihr Wallet ist eingerichtet. Nur die Karte fehlt noch.',
  cardFailedReason: 'Der Kartenaussteller meldet: {reason}',
  cardFailedRetry: 'Noch einmal versuchen',

  reasonExpired: 'Ihr Dokument ist abgelaufen. Bitte verwenden Sie ein gültiges.',
  reasonUnreadable:
    'Ihr Dokument war nicht lesbar. Bitte nehmen Sie es noch einmal auf: vollständig, scharf und ohne Spiegelungen.',
  reasonUnsupported:
    'Diese Art von Dokument kann nicht geprüft werden. Bitte verwenden Sie einen Reisepass, einen Personalausweis oder einen Führerschein.',
  reasonDetails:
    'Ihr Name oder Ihr Geburtsdatum stimmt nicht mit Ihrem Dokument überein. Bitte korrigieren Sie Ihre Angaben.',
  reasonAge: 'Sie sind für dieses Konto nicht alt genug.',
  reasonFace: 'Das Gesicht auf dem Selfie passt nicht zu dem auf dem Dokument.',
  reasonSelfie:
    'Ihr Gesicht war auf dem Selfie nicht zu erkennen. Bitte nehmen Sie es noch einmal auf, ohne andere Personen im Bild.',
  reasonNotLive:
    'Das Selfie muss ein Bild sein, das jetzt von Ihnen aufgenommen wird. Bitte nehmen Sie es noch einmal auf.',
  reasonVerification: 'Ihre Identität konnte nicht bestätigt werden.',
  reasonSize: 'Ein Bild ist zu klein oder zu groß. Bitte nehmen Sie es noch einmal auf.',
  reasonGone: 'Ihre Bilder sind nicht mehr da. Bitte nehmen Sie sie noch einmal auf.',
  reasonName:
    'Ihr Name enthält Zeichen, die nicht geprüft werden können. Bitte schreiben Sie ihn so, wie er in Ihrem Dokument steht.',
  reasonNotChecked:
    'Ihre Identität konnte wegen eines Problems bei uns nicht geprüft werden. Bitte versuchen Sie es noch einmal.',
  reasonSandboxIdentity: 'Das Ausweisdokument konnte nicht bestätigt werden',
  reasonNotIssued:
    'Ihre Karte konnte wegen eines Problems bei uns nicht ausgestellt werden. Bitte versuchen Sie es noch einmal.',
  reasonCardDeclined: 'Der Kartenaussteller hat die Karte abgelehnt',
  reasonCardName: 'Der Kartenaussteller nimmt Ihren Namen nicht an',
  reasonCardBirth: 'Der Kartenaussteller nimmt Ihr Geburtsdatum nicht an',
  reasonCardPhone: 'Der Kartenaussteller nimmt Ihre Telefonnummer nicht an',
  reasonCardEmail: 'Der Kartenaussteller nimmt Ihre E-Mail-Adresse nicht an',
  reasonCardRefused: 'Der Kartenaussteller stellt Ihnen keine Karte aus',
  reasonCardMore: 'Der Kartenaussteller möchte mehr über Sie wissen',
  reasonClosed: 'Das Konto ist geschlossen',
  reasonSandboxCard: 'Die Karte konnte nicht ausgestellt werden',
  reasonOtherIdentity: 'Ihre Identität wurde nicht bestätigt.',
  reasonOtherCard: 'Ihre Karte wurde nicht ausgestellt.',

  setupHeading: 'Wir richten Ihr Konto ein',
  setupText:
    'Ihre Identität ist bestätigt. Jetzt richten wir Wallet und Karte ein. Diese Seite aktualisiert sich automatisch.',
  setupSlow:
    'Es dauert länger als sonst. Sie können hier warten oder später mit demselben Link wiederkommen.',

  doneHeading: 'Ihr Konto ist bereit',
  doneText: 'Wallet und Karte sind eingerichtet. {merchant} kann Ihnen jetzt Geld senden.',
  doneEmbedded: 'Sie können zu {merchant} zurückkehren.',
  doneClose: 'Sie können diese Seite schließen.',
  doneContinue: 'Zurück zu {merchant}',

  sessionEnded:
    'Ihre Sitzung ist abgelaufen. Bestätigen Sie Ihre Telefonnummer noch einmal, um dort weiterzumachen, wo Sie waren.',
  troubleOffline: 'Sie sind offline. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
  troubleUnreachable:
    'Wir erreichen den Dienst nicht. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
  troubleServer:
    'Bei uns ist etwas schiefgegangen. Es ging nichts verloren. Versuchen Sie es gleich noch einmal.',
  troubleOften: 'Zu viele Versuche. Versuchen Sie es {time} noch einmal.',
  troubleToday:
    'Zu viele Versuche für heute. Versuchen Sie es morgen noch einmal oder aus einem anderen Netz.',
  troubleEntry: 'In diesem Formular stimmt etwas nicht. Prüfen Sie es und versuchen Sie es noch einmal.',
  troubleMoved: 'Das ist bereits geschehen, vielleicht in einem anderen Tab. Hier geht es jetzt weiter.',

  refusedLink: 'Dieser Link funktioniert nicht',
  refusedLinkText:
    'Er ist unvollständig oder nicht mehr gültig. Bitte gehen Sie dorthin zurück, wo Sie ihn gefunden haben, und öffnen Sie ihn noch einmal.',
  refusedSuspended: 'Die Registrierung pausiert',
  refusedSuspendedText:
    'Mit diesem Link kann sich gerade niemand registrieren. Bitte versuchen Sie es später noch einmal.',
  refusedClosing: 'Dieses Konto wird geschlossen',
  refusedClosingText: 'Mit diesem Link kann man sich nicht mehr registrieren.',
  refusedTooOften: 'Zu viele Anfragen',
  refusedTooOftenText: 'Bitte warten Sie eine Minute und versuchen Sie es noch einmal.',
  refusedTrouble: 'Wir haben technische Probleme',
  refusedTroubleText: 'Bitte versuchen Sie es gleich noch einmal. Ihre Eingaben sind nicht verloren.',

  sandboxTerms: 'Bedingungen der Testumgebung',
  sandboxPrivacy: 'Datenschutz in der Testumgebung',
  sandboxTermsText:
    'Dies ist eine Testumgebung. Sie registrieren sich hier nicht wirklich, und die Zustimmung hat keine rechtliche Wirkung. Verwenden Sie erfundene Namen und Dokumente.',
};
