import type { Service } from './service.js';
import { call } from './sign.js';

/** Creates that many users through the API and takes each of them through onboarding. Their ids. */
export async function activeUsers(service: Service, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const batch = Array.from({ length: Math.min(8, count - ids.length) }, (_, i) => ids.length + i);
    ids.push(...(await Promise.all(batch.map((index) => activeUser(service, index)))));
  }
  return ids;
}

async function activeUser(service: Service, index: number): Promise<string> {
  const body = { phone_number: `+4915112${String(100_000 + index)}`, external_id: `bench-${index}` };
  const created = (await call(
    service.baseUrl,
    service.merchant,
    'POST',
    '/merchants/v1/users',
    201,
    body,
  )) as {
    user: { id: string };
  };
  const path = `/merchants/v1/sandbox/users/${created.user.id}/complete_onboarding`;
  await call(service.baseUrl, service.merchant, 'POST', path, 200);
  return created.user.id;
}
