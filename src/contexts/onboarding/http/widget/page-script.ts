/** What the onboarding page does in the browser: one screen a time, each step a JSON call, the session in memory alone. */
export const SCRIPT = String.raw`
'use strict';
const main = document.querySelector('main');
const facts = JSON.parse(main.dataset.facts);
const $ = (id) => document.getElementById(id);
/** Screens and the step of the progress they belong to. */
const SCREENS = { number: 1, code: 1, details: 2, identity: 3, waiting: 3, done: 4 };
const STEPS = 3;
const OF_STAGE = { started: 'number', phone_verified: 'details', kyc_failed: 'details', details_confirmed: 'identity', completed: 'done' };
const SLOW_MS = 20000;
const REDIRECT_MS = 1200;
const embedded = window.top !== window.self;
let session = '';
let phoneNumber = '';
let timer = 0;

class Refusal extends Error {
  constructor(status, detail, errors) {
    super(detail);
    this.status = status;
    this.errors = errors;
  }
}

async function call(step, body) {
  let response, answer;
  try {
    response = await fetch(facts.steps + '/' + step, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ' + session },
      body: JSON.stringify(body || {}),
    });
    answer = await response.json();
  } catch {
    throw new Refusal(0, 'We could not reach the service. Check your connection and try again', {});
  }
  if (response.ok) return answer;
  const away = response.status >= 500;
  const detail = away ? 'Something went wrong on our side. Try again in a moment' : answer.detail;
  throw new Refusal(response.status, detail, answer.errors || {});
}

function show(screen, alert) {
  for (const each of Object.keys(SCREENS)) $(each).hidden = each !== screen;
  const step = SCREENS[screen];
  [...$('progress').children].forEach((item, index) => {
    item.className = index + 1 < step ? 'past' : '';
    if (index + 1 === step) item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  });
  const heading = $(screen).querySelector('h1');
  const place = 'Step ' + step + ' of ' + STEPS;
  $('eyebrow').textContent = place;
  $('eyebrow').hidden = $(screen).tagName !== 'FORM';
  document.title = (step > STEPS ? '' : place + ': ') + heading.textContent;
  clearErrors($(screen));
  say(alert || '');
  ($(screen).querySelector('input:not([readonly])') || heading).focus();
  main.scrollIntoView();
}

function say(text) {
  $('alert').hidden = text === '';
  $('alert').textContent = text === '' ? '' : text.replace(/[.]?$/, '.');
}

function setError(input, text) {
  input.setAttribute('aria-invalid', String(text !== ''));
  $(input.id + '-error').textContent = text;
}

function fieldsOf(form) {
  return [...form.querySelectorAll('input[data-subject]')];
}

function clearErrors(form) {
  fieldsOf(form).forEach((input) => setError(input, ''));
}

/** Whether all fields can be sent; says next to each field why it cannot. */
function check(form) {
  const wrong = fieldsOf(form).filter((input) => !input.checkValidity());
  wrong.forEach((input) => setError(input, input.dataset.missing));
  if (wrong.length > 0) wrong[0].focus();
  return wrong.length === 0;
}

function complain(form, error) {
  if (!(error instanceof Refusal)) throw error;
  if (error.errors.session) return restart();
  const wrong = fieldsOf(form).filter((input) => error.errors[input.name]);
  wrong.forEach((input) => setError(input, input.dataset.subject + ' ' + error.errors[input.name][0] + '.'));
  if (wrong.length === 0) {
    form.querySelector('button[type=submit]').focus();
    return say(error.message);
  }
  wrong[0].focus();
  wrong[0].select();
}

function restart() {
  session = '';
  show('number', 'Your session has ended. Confirm your phone number again to go on');
}

function busy(form, is) {
  form.setAttribute('aria-busy', String(is));
  form.querySelector('button[type=submit]').disabled = is;
}

function on(screen, act) {
  const form = $(screen);
  form.addEventListener('input', (event) => setError(event.target, ''));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    say('');
    clearErrors(form);
    if (!check(form)) return;
    busy(form, true);
    const failure = await act(Object.fromEntries(new FormData(form))).then(() => null, (error) => error);
    busy(form, false);
    if (failure !== null) complain(form, failure);
  });
}

async function sendCode() {
  let alert = '';
  try {
    await call('code', { phone_number: phoneNumber });
  } catch (error) {
    // One is on its way already: that one is asked for.
    if (error.status !== 409) throw error;
    alert = 'A code was sent a moment ago. Please use that one';
  }
  if (facts.sandbox) $('sandbox-code').textContent = (await call('inbox')).code || 'not there any more';
  $('sent-to').textContent = phoneNumber;
  $('code-field').value = '';
  show('code', alert);
  countDown(facts.codeEverySeconds);
}

function countDown(seconds) {
  clearTimeout(timer);
  $('resend').disabled = seconds > 0;
  $('resend').textContent = seconds > 0 ? 'Send a new code in ' + seconds + ' s' : 'Send a new code';
  if (seconds > 0) timer = setTimeout(countDown, 1000, seconds - 1);
}

function follow(answer) {
  if (answer.session) session = answer.session;
  const screen = OF_STAGE[answer.stage] || 'waiting';
  if (screen === 'identity') summarize();
  const failed = answer.stage === 'kyc_failed';
  show(screen, failed ? (answer.reason || 'Your identity could not be verified') + '. Check your details and try again' : '');
  if (screen === 'waiting') waitOn(Date.now(), 250);
  if (screen === 'done') finish();
}

async function waitOn(since, delay) {
  $('slow').hidden = Date.now() - since < SLOW_MS;
  await new Promise((resolve) => setTimeout(resolve, delay));
  try {
    const answer = await call('state');
    if (OF_STAGE[answer.stage]) return follow(answer);
    say('');
  } catch (error) {
    if (error.errors.session) return restart();
    say(error.message);
  }
  waitOn(since, Math.min(delay * 1.5, 3000));
}

function finish() {
  if (embedded) return;
  $('close').hidden = facts.callbackUrl !== null;
  $('back').hidden = facts.callbackUrl === null;
  if (facts.callbackUrl === null) return;
  $('back').href = facts.callbackUrl;
  setTimeout(() => location.replace(facts.callbackUrl), REDIRECT_MS);
}

/** What was entered on this page, to look at once more; nothing after a return with a new code. */
function summarize() {
  const details = new FormData($('details'));
  const born = details.get('date_of_birth');
  $('name-given').textContent = (details.get('first_name') + ' ' + details.get('last_name')).trim();
  $('born-given').textContent = born && new Date(born + 'T00:00:00Z').toLocaleDateString('en', { dateStyle: 'long', timeZone: 'UTC' });
  $('summary').hidden = !born;
}

on('number', (fields) => {
  phoneNumber = fields.phone_number.trim();
  return sendCode();
});
on('code', async (fields) => follow(await call('phone', { phone_number: phoneNumber, code: fields.code.replace(/\s/g, '') })));
on('details', async (fields) => follow(await call('details', { ...fields, ...facts.consent })));
on('identity', async () => follow(await call('identity')));
$('resend').addEventListener('click', () => sendCode().catch((error) => complain($('code'), error)));
$('other-number').addEventListener('click', () => show('number'));
$('change').addEventListener('click', () => show('details'));
`;
