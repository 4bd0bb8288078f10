import { describe, expect, it } from '@jest/globals';
import { RightsWorld } from '../../../../test/support/access/rights-world.js';
import type { Role } from '../operators/roles.js';
import type { Operator } from '../operators/operator.js';
import { Passkeys } from './people.service.js';

/** A person whose role differs from the role in the read model, `displayed`. */
async function signedIn(role: Role, displayed: Role) {
  const world = new RightsWorld();
  for (const each of ['administrator', 'administrator', role] as const) await world.add(each);
  const operator_id = world.persons.at(-1)!;
  const person: Operator = {
    ...{ status: 'active', operator_id, name: 'Person', email: 'person@ops.example' },
    ...{ role: displayed, passkeys: [], created_at: '2026-01-02T03:04:05.000Z', disabled_at: null },
  };
  const roleNow = async () => (await world.person(operator_id)).role;
  return { world, person, roleNow };
}

describe('a login that updates the operator', () => {
  it('applies a lower role from the groups, even if the read model already has that role', async () => {
    const { world, person, roleNow } = await signedIn('administrator', 'viewer');
    expect(await world.people.lowerRole(person, 'viewer', '192.0.2.1')).toBe(true);
    expect(await roleNow()).toBe('viewer');
  });

  it('never raises the role, even if an outdated read model has a higher role', async () => {
    const { world, person, roleNow } = await signedIn('viewer', 'administrator');
    expect(await world.people.lowerRole(person, 'compliance', '192.0.2.1')).toBe(false);
    expect(await roleNow()).toBe('viewer');
  });

  it('adds a passkey even for a viewer', async () => {
    const { world, person } = await signedIn('viewer', 'viewer');
    const passkey = { credential_id: 'c', public_key: 'p', counter: 0, transports: [] };
    const by = { reason: 'enrolled in a session', address: '192.0.2.1', sessionId: 's1' };
    await world.people.addPasskey(person, passkey, by);
    expect((await world.person(person.operator_id)).passkeys).toEqual([passkey]);
  });
});

it('the enrolment of a passkey fails with the error of an unavailable database', async () => {
  const outage = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const secrets = { take: () => Promise.reject(outage) };
  const origin = 'https://console.example';
  const client = { type: 'webauthn.create', challenge: 'c', origin };
  const clientDataJSON = Buffer.from(JSON.stringify(client)).toString('base64url');
  const response = { id: 'i', rawId: 'i', type: 'public-key', response: { clientDataJSON } };
  const passkeys = new Passkeys({} as never, secrets as never);
  await expect(passkeys.verifyEnrolment('o', response, origin)).rejects.toBe(outage);
});
