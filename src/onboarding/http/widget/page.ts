export interface PageFacts {
  readonly merchantId: string;
  readonly userId: string;
  readonly phoneNumber: string;
  readonly email: string | null;
  readonly callbackUrl: string | null;
  readonly nonce: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/** The onboarding page: one form a step, plain HTML and a small script. */
export function onboardingPage(facts: PageFacts): string {
  const data = escapeHtml(
    JSON.stringify({
      steps: `/onboarding/${facts.merchantId}/${facts.userId}`,
      callbackUrl: facts.callbackUrl,
    }),
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign up</title>
<style nonce="${facts.nonce}">
body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1c2024;background:#f6f7f9}
main{max-width:24rem;margin:2rem auto;padding:1.5rem;background:#fff;border-radius:.75rem;box-shadow:0 1px 4px #0002}
label{display:block;margin:.75rem 0}input{display:block;width:100%;box-sizing:border-box;padding:.5rem;font:inherit}
button{font:inherit;padding:.6rem 1rem;border:0;border-radius:.5rem;background:#1554d1;color:#fff;cursor:pointer}
[hidden]{display:none}#message{min-height:1.5em;color:#a3160e}
</style>
<main data-facts="${data}">
<h1>Sign up</h1>
<p id="message" role="alert"></p>
<form id="code"><label>Phone number<input name="phone_number" type="tel" value="${escapeHtml(facts.phoneNumber)}" required></label>
<button>Send me a code</button></form>
<form id="phone" hidden><label>Code from the message<input name="code" inputmode="numeric" autocomplete="one-time-code" required></label>
<button>Confirm</button></form>
<form id="details" hidden><label>First name<input name="first_name" autocomplete="given-name" required></label>
<label>Last name<input name="last_name" autocomplete="family-name" required></label>
<label>Date of birth<input name="date_of_birth" type="date" required></label>
<label>Email<input type="email" value="${escapeHtml(facts.email ?? '')}" readonly></label>
<button>Continue</button></form>
<form id="identity" hidden><p>We now verify your identity.</p><button>Verify my identity</button></form>
<p id="waiting" hidden>One moment: your account is being set up.</p>
<p id="done" hidden>Your account is ready.</p>
</main>
<script nonce="${facts.nonce}">${SCRIPT}</script>
</html>`;
}

const SCRIPT = `
const facts = JSON.parse(document.querySelector('main').dataset.facts);
const $ = (id) => document.getElementById(id);
const SCREENS = ['code', 'phone', 'details', 'identity', 'waiting', 'done'];
const OF_STAGE = { phone_verified: 'details', kyc_failed: 'details', details_confirmed: 'identity', completed: 'done' };
let session = '', phoneNumber = '';
function show(screen) { for (const each of SCREENS) $(each).hidden = each !== screen; }
async function call(step, body) {
  const response = await fetch(facts.steps + '/' + step, {
    method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer ' + session }, body: JSON.stringify(body || {}),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail);
  return answer;
}
async function follow(answer) {
  if (answer.session) session = answer.session;
  const screen = OF_STAGE[answer.stage] || 'waiting';
  show(screen);
  if (answer.stage === 'kyc_failed') $('message').textContent = 'Your identity could not be verified. Please check your details.';
  if (screen === 'done' && facts.callbackUrl && window.top === window.self) location.assign(facts.callbackUrl);
  if (screen === 'waiting') setTimeout(() => call('state').then(follow), 1000);
}
function on(id, act) {
  $(id).addEventListener('submit', (event) => {
    event.preventDefault();
    $('message').textContent = '';
    act(Object.fromEntries(new FormData($(id)))).catch((error) => { $('message').textContent = error.message; });
  });
}
on('code', async (fields) => { phoneNumber = fields.phone_number; await call('code', fields); show('phone'); });
on('phone', async (fields) => follow(await call('phone', { phone_number: phoneNumber, code: fields.code })));
on('details', async (fields) => follow(await call('details', fields)));
on('identity', async () => follow(await call('identity')));
`;
