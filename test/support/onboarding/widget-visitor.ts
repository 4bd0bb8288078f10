import { randomInt } from 'node:crypto';
import { expect } from '@jest/globals';
import type { TestApp } from '../app.js';
import { pageUrl } from './people.js';
import type { SignedClient } from '../http/signed-client.js';

export interface NewUser {
  readonly id: string;
  readonly phone: string;
  readonly email: string;
}

/** `http://127.0.0.1:<port>` of the widget. */
export function widgetUrl(app: TestApp): string {
  return pageUrl(app.app);
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
