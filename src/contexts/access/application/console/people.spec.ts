import { describe, expect, it } from '@jest/globals';
import { RightsWorld } from '../../../../../test/support/access/rights-world.js';
import type { Role } from '../../domain/roles.js';
import type { KnownOperator } from '../../domain/operator.js';

/** A person whose read model says `displayed`, while the role is another one. */
async function signedIn(role: Role, displayed: Role) {
  const world = new RightsWorld();
  for (const each of ['administrator', 'administrator', role] as const) await world.add(each);
  const operatorId = world.persons.at(-1)!;
  const person: KnownOperator = {
    ...{ status: 'active', operatorId, name: 'Person', email: 'person@ops.example' },
    ...{ role: displayed, passkeys: [], disabledAt: null },
  };
  const roleNow = async () => (await world.person(operatorId)).role;
  return { world, person, roleNow };
}

describe('what a login changes of its person', () => {
  it('is a lower role by the groups, also where it was displayed already', async () => {
    const { world, person, roleNow } = await signedIn('administrator', 'viewer');
    expect(await world.people.lowerRole(person, 'viewer', '192.0.2.1')).toBe(true);
    expect(await roleNow()).toBe('viewer');
  });

  it('is never a higher role, also where a late read model displays a still higher one', async () => {
    const { world, person, roleNow } = await signedIn('viewer', 'administrator');
    expect(await world.people.lowerRole(person, 'compliance', '192.0.2.1')).toBe(false);
    expect(await roleNow()).toBe('viewer');
  });

  it('is a passkey, for any role', async () => {
    const { world, person } = await signedIn('viewer', 'viewer');
    const passkey = { credential_id: 'c', public_key: 'p', counter: 0, transports: [] };
    const by = { reason: 'enrolled in a session', address: '192.0.2.1', sessionId: 's1' };
    await world.people.addPasskey(person, passkey, by);
    expect((await world.person(person.operatorId)).passkeys).toEqual([passkey]);
  });
});
