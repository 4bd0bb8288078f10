import { randomInt } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Frame, Page } from 'playwright-core';
import { WidgetServer } from '../../src/contexts/onboarding/http/widget/widget-server.js';
import type { TestApp } from './app.js';
import type { SignedClient } from './signed-client.js';

export interface NewUser {
  readonly id: string;
  readonly phone: string;
  readonly email: string;
}

/** `http://127.0.0.1:<port>` of the widget. */
export function widgetUrl(app: TestApp): string {
  return `http://127.0.0.1:${app.app.get(WidgetServer, { strict: false }).port}`;
}

/** A user as a merchant creates it, through the signed API. */
export async function createUser(merchant: SignedClient): Promise<NewUser> {
  const phone = `+1555${String(randomInt(10_000_000)).padStart(7, '0')}`;
  const email = `ada.${phone.slice(1)}@example.com`;
  const response = await merchant.post('/merchants/v1/users', { phone_number: phone, email });
  expect(response.status).toBe(201);
  return { id: response.json<{ user: { id: string } }>().user.id, phone, email };
}

/** Where the user signs up. */
export function onboardingUrl(
  app: TestApp,
  user: NewUser,
  query: Readonly<Record<string, string>> = {},
): string {
  const ids = { merchant_id: app.merchant.credentials.apiKey, user_id: user.id };
  return `${widgetUrl(app)}/onboarding?${new URLSearchParams({ ...ids, ...query }).toString()}`;
}

/** Asks for a code and returns what the sandbox shows. */
export async function askForCode(page: Page | Frame): Promise<string> {
  await page.getByRole('button', { name: 'Send me a code' }).click();
  await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
  return page.locator('#sandbox-code').innerText();
}

export async function enterCode(page: Page | Frame, code: string): Promise<void> {
  await page.getByLabel('Code', { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Confirm' }).click();
}

export async function enterDetails(page: Page | Frame, lastName = 'Lovelace'): Promise<void> {
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill(lastName);
  await page.getByLabel('Date of birth').fill('1985-12-10');
  await page.getByRole('button', { name: 'Continue' }).click();
}

export async function verifyIdentity(page: Page | Frame): Promise<void> {
  await page.getByRole('button', { name: 'Verify my identity' }).click();
}

/** From the open page to the end of the onboarding. */
export async function signUp(page: Page | Frame): Promise<void> {
  await enterCode(page, await askForCode(page));
  await enterDetails(page);
  await verifyIdentity(page);
  await page.getByRole('heading', { name: 'Your account is ready' }).waitFor();
}
