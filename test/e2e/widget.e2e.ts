import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { CLOCK, type Clock } from '../../src/kernel/clock.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { findChromium, picture, TestBrowser, type WatchedPage } from '../support/browser.js';
import {
  askForCode,
  createUser,
  enterCode,
  enterDetails,
  onboardingUrl,
  verifyIdentity,
  widgetUrl,
  type NewUser,
} from '../support/widget-visitor.js';

const HOUR_MS = 3_600_000;
const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;

suite('the onboarding widget in a browser', () => {
  let app: TestApp;
  let browser: TestBrowser;
  let user: NewUser;
  let visit: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    [app, browser] = await Promise.all([startTestApp(), TestBrowser.start(chromium!)]);
  });
  afterAll(async () => {
    await Promise.all([app?.close(), browser?.close()]);
  });
  beforeEach(async () => {
    user = await createUser(app.merchant);
    visit = await browser.visit([widgetUrl(app)]);
    ({ page } = visit);
  });
  afterEach(async () => {
    await page.context().close();
    expect(visit.problems).toEqual([]);
  });

  const open = async (): Promise<void> => {
    const response = await page.goto(onboardingUrl(app, user));
    expect(response?.status()).toBe(200);
  };
  const heading = (name: string): Promise<void> => page.getByRole('heading', { name }).waitFor();
  const errorOf = (label: string): Promise<string | null> =>
    page.getByLabel(label, { exact: true }).evaluate((input) => {
      const error = input.ownerDocument.getElementById(`${input.id}-error`);
      return input.getAttribute('aria-invalid') === 'true' ? error!.textContent : null;
    });
  const stateOfUser = async (): Promise<Record<string, string | null>> =>
    (await app.merchant.get(`/merchants/v1/users/${user.id}`)).json<{ user: Record<string, string | null> }>()
      .user;

  it('leads a new user to an active account with a wallet', async () => {
    await open();
    await picture(page, '1-number');
    expect(await page.getByLabel('Phone number').inputValue()).toBe(user.phone);
    const code = await askForCode(page);
    await picture(page, '2-code');
    expect(code).toMatch(/^[0-9]{6}$/);
    await enterCode(page, code);
    await heading('Your details');
    await picture(page, '4-details');
    expect(await page.getByLabel('Email').inputValue()).toBe(user.email);
    await enterDetails(page);
    await heading('Verify your identity');
    await picture(page, '6-identity');
    expect(await page.locator('#summary').innerText()).toMatch(/Ada Lovelace[\s\S]*December 10, 1985/);
    expect((await stateOfUser())['account_state']).toBe('onboarding');
    await verifyIdentity(page);
    await heading('Your account is ready');
    await picture(page, '9-done');
    expect(await stateOfUser()).toMatchObject({
      account_state: 'active',
      issuer_wallet_address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
    });
  });

  it('says next to the field what is wrong with it, and puts the cursor there', async () => {
    await open();
    await page.getByLabel('Phone number').fill('+1 555 999-9999');
    await page.getByRole('button', { name: 'Send me a code' }).click();
    await page.getByText('This is not the phone number of this account.').waitFor();
    await page.getByLabel('Phone number').fill(user.phone.replace('+1555', '+1 (555) '));
    const code = await askForCode(page);
    await enterCode(page, '12');
    expect(await errorOf('Code')).toBe('Enter the six digits of the code.');
    await enterCode(page, code === '000000' ? '000001' : '000000');
    await page.getByText('The code is wrong.').waitFor();
    await picture(page, '3-wrong-code');
    expect(await page.evaluate('document.activeElement.name')).toBe('code');
    await enterCode(page, `${code.slice(0, 3)} ${code.slice(3)}`);
    await heading('Your details');
    await page.getByRole('button', { name: 'Continue' }).click();
    await picture(page, '5-details-missing');
    expect(await errorOf('First name')).toBe('Enter your first name.');
    expect(await errorOf('Last name')).toBe('Enter your last name.');
    expect(await errorOf('Date of birth')).toBe('Enter your date of birth.');
    expect(await page.evaluate('document.activeElement.name')).toBe('first_name');
    await page.getByLabel('First name').fill('   ');
    await page.getByLabel('Last name').fill('Lovelace');
    await page.getByLabel('Date of birth').fill('1985-12-10');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('First name must not be blank or too long.').waitFor();
    expect(await errorOf('Last name')).toBeNull();
  });

  it('lets a user try again whose identity was not verified', async () => {
    await open();
    await enterCode(page, await askForCode(page));
    await enterDetails(page, 'Rejected');
    await verifyIdentity(page);
    await page.getByRole('alert').getByText('The identity document could not be verified').waitFor();
    await picture(page, '8-not-verified');
    expect((await stateOfUser())['account_state']).toBe('onboarding');
    expect(await page.getByLabel('First name').inputValue()).toBe('Ada');
    await enterDetails(page);
    await verifyIdentity(page);
    await heading('Your account is ready');
    expect((await stateOfUser())['account_state']).toBe('active');
  });

  it('goes on where a user left off, after another code', async () => {
    await open();
    await enterCode(page, await askForCode(page));
    await enterDetails(page);
    await heading('Verify your identity');
    await page.reload();
    await enterCode(page, await askForCode(page));
    await heading('Verify your identity');
    await page.getByRole('button', { name: 'Change my details' }).click();
    await enterDetails(page, 'King');
    await verifyIdentity(page);
    await heading('Your account is ready');
  });

  it('asks for the code that is on its way instead of sending one more', async () => {
    await open();
    const code = await askForCode(page);
    expect(await page.getByRole('button', { name: /Send a new code in [0-9]+ s/ }).isDisabled()).toBe(true);
    await page.reload();
    expect(await askForCode(page)).toBe(code);
    expect(await page.getByRole('alert').innerText()).toContain('A code was sent a moment ago');
    await enterCode(page, code);
    await heading('Your details');
  });

  it('asks for the phone again when the session has ended, and keeps what was entered', async () => {
    await open();
    await enterCode(page, await askForCode(page));
    await heading('Your details');
    const clock = jest.spyOn(app.app.get<Clock>(CLOCK), 'now');
    try {
      clock.mockImplementation(() => new Date(Date.now() + HOUR_MS));
      await enterDetails(page);
      await heading('Confirm your phone number');
    } finally {
      clock.mockRestore();
    }
    expect(await page.getByRole('alert').innerText()).toContain('Your session has ended');
    await enterCode(page, await askForCode(page));
    await heading('Your details');
    expect(await page.getByLabel('Last name').inputValue()).toBe('Lovelace');
  });

  it('says that the service is unavailable, and goes on when it is back', async () => {
    await open();
    await page.route('**/code', (route) => route.abort());
    await page.getByRole('button', { name: 'Send me a code' }).click();
    await page.getByRole('alert').getByText('We could not reach the service').waitFor();
    visit.problems.length = 0;
    await page.unroute('**/code');
    await enterCode(page, await askForCode(page));
    await enterDetails(page);
    await page.route('**/state', (route) => route.abort(), { times: 2 });
    await verifyIdentity(page);
    await heading('Your account is ready');
    visit.problems.length = 0;
  });

  it('can be used with the keyboard alone', async () => {
    const { keyboard } = page;
    const focused = (): Promise<unknown> =>
      page.evaluate('document.activeElement.name || document.activeElement.innerText');
    await open();
    await keyboard.press('Tab');
    expect(await focused()).toBe('phone_number');
    await keyboard.press('Tab');
    expect(await focused()).toBe('Send me a code');
    await keyboard.press('Enter');
    await heading('Enter the code');
    expect(await focused()).toBe('code');
    await keyboard.type(await page.locator('#sandbox-code').innerText());
    await keyboard.press('Enter');
    await heading('Your details');
    for (const [name, typed] of [
      ['first_name', 'Ada'],
      ['last_name', 'Lovelace'],
      ['date_of_birth', '12101985'],
    ] as const) {
      expect(await focused()).toBe(name);
      await keyboard.type(typed);
      await keyboard.press('Tab');
    }
    await page.getByLabel('Date of birth').press('Enter');
    await heading('Verify your identity');
    await keyboard.press('Tab');
    expect(await focused()).toBe('Verify my identity');
    await keyboard.press('Space');
    await heading('Your account is ready');
    expect(await focused()).toBe('Your account is ready');
  });

  it.each(['light', 'dark'] as const)('fits a phone 375 pixels wide, %s', async (colorScheme) => {
    await page.setViewportSize({ width: 375, height: 667 });
    await page.emulateMedia({ colorScheme });
    const fits = async (name: string): Promise<void> => {
      await picture(page, `mobile-${colorScheme}-${name}`);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    };
    await open();
    await fits('1-number');
    const code = await askForCode(page);
    await fits('2-code');
    await enterCode(page, code);
    await heading('Your details');
    await page.getByRole('button', { name: 'Continue' }).click();
    await fits('3-details');
    await enterDetails(page, 'Lovelace'.repeat(10));
    await heading('Verify your identity');
    await fits('4-identity');
    await page.route('**/state', (route) => route.fulfill({ json: { stage: 'kyc_submitted' } }), {
      times: 1,
    });
    await verifyIdentity(page);
    await heading('We are setting up your account');
    await fits('5-waiting');
    await heading('Your account is ready');
    await fits('6-done');
  });
});
