import { escapeHtml, layout } from '../../../../platform/http/pages/page.js';
import type { OnboardingFacts } from './page-types.js';
import { SCRIPT } from './page-script.js';
import { STYLE } from './page-style.js';

type PageFacts = OnboardingFacts;

interface Field {
  readonly name: string;
  readonly id?: string;
  readonly label: string;
  /** How a message about the field begins: `<subject> must not be blank`. */
  readonly subject: string;
  /** What is said when the field is empty or impossible. */
  readonly missing: string;
  /** More attributes, as HTML. */
  readonly attributes: string;
}

function field({ name, id = name, label, subject, missing, attributes }: Field): string {
  return `<div class="field"><label for="${id}">${label}</label>
<input id="${id}" name="${name}" ${attributes} required data-subject="${subject}" data-missing="${missing}" aria-describedby="${id}-error">
<p class="error" id="${id}-error"></p></div>`;
}

function emailField(email: string | null): string {
  if (email === null) return '';
  return `<div class="field"><label for="email">Email</label>
<input id="email" type="email" value="${escapeHtml(email)}" readonly aria-describedby="email-hint">
<p class="hint" id="email-hint">From your profile.</p></div>`;
}

function sandboxNote(facts: PageFacts, html: string): string {
  return facts.sandbox === null ? '' : `<div class="sandbox"><p><strong>Sandbox.</strong> ${html}</p></div>`;
}

function numberScreen(facts: PageFacts): string {
  return `<form id="number" novalidate>
<h1 tabindex="-1">Confirm your phone number</h1>
<p class="lead">We send a one-time code to this number. It shows us that the phone is yours.</p>
${field({
  name: 'phone_number',
  label: 'Phone number',
  subject: 'This',
  missing: 'Enter your phone number, with the country code.',
  attributes: `type="tel" autocomplete="tel" value="${escapeHtml(facts.phoneNumber)}"`,
})}
<button type="submit">Send me a code</button>
</form>`;
}

function codeScreen(facts: PageFacts): string {
  const note = 'Nothing reaches a phone here. The code is <output id="sandbox-code"></output>';
  return `<form id="code" novalidate hidden>
<h1 tabindex="-1">Enter the code</h1>
<p class="lead">We sent six digits to <strong id="sent-to"></strong>. They are good for ten minutes.</p>
${sandboxNote(facts, note)}
${field({
  name: 'code',
  id: 'code-field',
  label: 'Code',
  subject: 'The code',
  missing: 'Enter the six digits of the code.',
  attributes: 'inputmode="numeric" autocomplete="one-time-code" pattern="(\\s*[0-9]){6}\\s*"',
})}
<button type="submit">Confirm</button>
<button type="button" class="quiet" id="resend">Send a new code</button>
<button type="button" class="quiet" id="other-number">Back to the phone number</button>
</form>`;
}

function detailsScreen(facts: PageFacts): string {
  const name = (each: 'first' | 'last', label: string, autocomplete: string): string =>
    field({
      name: `${each}_name`,
      label,
      subject: label,
      missing: `Enter your ${each} name.`,
      attributes: `autocomplete="${autocomplete}" maxlength="100"`,
    });
  const rejected = escapeHtml(facts.sandbox?.rejected ?? '');
  return `<form id="details" novalidate hidden>
<h1 tabindex="-1">Your details</h1>
<p class="lead">Please enter them as they stand in your passport or identity card.</p>
${sandboxNote(facts, `The last name <strong>${rejected}</strong> fails the identity check; any other passes.`)}
<div class="pair">${name('first', 'First name', 'given-name')}${name('last', 'Last name', 'family-name')}</div>
${field({
  name: 'date_of_birth',
  label: 'Date of birth',
  subject: 'Date of birth',
  missing: 'Enter your date of birth.',
  attributes: `type="date" autocomplete="bday" min="1900-01-01" max="${facts.today}"`,
})}
${emailField(facts.email)}
<button type="submit">Continue</button>
</form>`;
}

const REST = `<form id="identity" novalidate hidden>
<h1 tabindex="-1">Verify your identity</h1>
<p class="lead">The last step: we check that you are who you say. It takes a moment.</p>
<dl id="summary" hidden><div><dt>Name</dt><dd id="name-given"></dd></div>
<div><dt>Date of birth</dt><dd id="born-given"></dd></div></dl>
<button type="submit">Verify my identity</button>
<button type="button" class="quiet" id="change">Change my details</button>
</form>
<section id="waiting" hidden>
<span class="spinner"></span>
<h1 tabindex="-1">We are setting up your account</h1>
<p class="lead">This page goes on by itself.</p>
<p class="small" id="slow" role="status" hidden>It takes longer than usual. You can wait here, or come back later with the same link.</p>
</section>
<section id="done" hidden>
<div class="mark"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M5 12.5l4.5 4.5L19 7.5"/></svg></div>
<h1 tabindex="-1">Your account is ready</h1>
<p class="lead">Your wallet and your card are set up. You can be paid now.</p>
<p class="small" id="close" hidden>You can close this page.</p>
<a class="button" id="back" rel="noreferrer" hidden>Continue</a>
</section>`;

/** The onboarding page (contract.md 18): one screen a step, plain HTML and a small script. */
export function formerPage(facts: PageFacts, nonce: string): string {
  const data = {
    steps: facts.steps,
    callbackUrl: facts.callbackUrl,
    codeEverySeconds: facts.codeEverySeconds,
    consent: { terms_version: facts.consent.terms.version, privacy_version: facts.consent.privacy.version },
    sandbox: facts.sandbox !== null,
  };
  const body = `<main data-facts="${escapeHtml(JSON.stringify(data))}">
<ol class="progress" id="progress" aria-label="Steps"><li aria-current="step">Phone</li><li>Details</li><li>Identity</li></ol>
<p class="alert" id="alert" role="alert" hidden></p>
<p class="eyebrow" id="eyebrow">Step 1 of 3</p>
<noscript><p class="alert">This page needs JavaScript. Please turn it on and load the page again.</p></noscript>
${[numberScreen(facts), codeScreen(facts), detailsScreen(facts), REST].join('\n')}
</main>
<script nonce="${nonce}">${SCRIPT}</script>`;
  return layout('Sign up', `<style nonce="${nonce}">${STYLE}</style>`, body);
}
