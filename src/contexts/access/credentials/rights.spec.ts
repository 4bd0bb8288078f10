import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RightsWorld, rolledTo } from '../../../../test/support/access/rights-world.js';
import { newId } from '../../../kernel/ids.js';
import { ROLE_SCOPES, ROLES, SCOPES, type Role } from '../operators/roles.js';

/** The number of runs; RIGHTS_RUNS=100000 is a long run. */
const RUNS = Number(process.env['RIGHTS_RUNS'] ?? 60);

const place = fc.nat({ max: 999 });
const common = {
  by: place,
  decider: place,
  on: place,
  decision: fc.constantFrom('approve' as const, 'approve' as const, 'reject' as const),
  passes: fc.constantFrom(0, 1000, 90_000_000),
};
const step = fc.oneof(
  fc.record({
    ...common,
    kind: fc.constant('issue' as const),
    scopes: fc.option(fc.subarray([...SCOPES], { maxLength: 5 })),
    expires: fc.boolean(),
  }),
  fc.record({ ...common, kind: fc.constant('roll' as const), overlap: fc.constantFrom(0, 60, 604_800) }),
  fc.record({ ...common, kind: fc.constant('revoke' as const) }),
  fc.record({ ...common, kind: fc.constant('role' as const), role: fc.constantFrom(...ROLES) }),
  fc.record({
    ...common,
    kind: fc.constant('status' as const),
    status: fc.constantFrom('active' as const, 'disabled' as const),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const ADMIN_KEY = { kind: 'admin', merchant_id: null, api_key: null };

const isWithin = (part: Iterable<string>, whole: ReadonlySet<string>): boolean =>
  [...part].every((scope) => whole.has(scope));

/** Runs a step. Returns the rights it gave that its requester and its decider lacked. */
async function take(world: RightsWorld, given: Step): Promise<string | null> {
  const at = (list: readonly string[], n: number): string => list[n % list.length]!;
  world.pass(given.passes);
  const [by, decider] = [at(world.keys, given.by), at(world.keys, given.decider)];
  const had = await world.rights(by);
  const deciderHad = await world.rights(decider);
  const { operatorId } = await world.requester(by);
  const run = (request: Parameters<RightsWorld['run']>[0]) =>
    world.run(request, by, { decider, decision: given.decision });
  switch (given.kind) {
    case 'issue': {
      const subject = newId();
      const expires_at = given.expires ? '2026-03-01T00:00:00.000Z' : null;
      const terms = { scopes: given.scopes, merchants: null, addresses: [], expires_at };
      const parameters = { kind: 'admin', name: 'next', operator_id: operatorId, ...terms };
      const done = await run({ name: 'credentials.issue', parameters, subject, isNew: true });
      if (!done?.approved) return null;
      world.keys.push(subject);
      const { scopes } = (await world.key(subject)).issued;
      if (!isWithin(scopes, had)) return `issued ${scopes.join()} with ${[...had].join()}`;
      return isWithin(scopes, deciderHad) ? null : `approved ${scopes.join()}`;
    }
    case 'roll': {
      const subject = at(world.keys, given.on);
      const { issued } = await world.key(subject);
      // The controller refuses others.
      if (issued.owner_id !== operatorId) return null;
      const parameters = { ...ADMIN_KEY, overlap_seconds: given.overlap };
      const done = await run({ name: 'credentials.roll', parameters, subject });
      if (done === null) return null;
      world.keys.push(rolledTo(done.operationId));
      const { scopes } = (await world.key(rolledTo(done.operationId))).issued;
      return isWithin(scopes, had) ? null : `rolled ${scopes.join()} with ${[...had].join()}`;
    }
    case 'revoke':
      await run({ name: 'credentials.revoke', parameters: ADMIN_KEY, subject: at(world.keys, given.on) });
      return null;
    case 'role':
    case 'status': {
      const subject = at(world.persons, given.on);
      const former = await world.person(subject);
      const personHad: readonly string[] = former.status === 'active' ? ROLE_SCOPES[former.role] : [];
      const parameters = given.kind === 'role' ? { role: given.role } : { status: given.status };
      await run({ name: 'operators.update', parameters, subject });
      const { role, status } = await world.person(subject);
      const gained =
        status === 'active' ? ROLE_SCOPES[role].filter((scope) => !personHad.includes(scope)) : [];
      if (gained.length === 0) return null;
      if (by === decider) return `${operatorId} raised a role alone`;
      return isWithin(gained, had) && isWithin(gained, deciderHad) ? null : `gave ${gained.join()}`;
    }
  }
}

/** Returns the keys with more rights than their person's role and their own scopes. */
async function excess(world: RightsWorld): Promise<string | null> {
  for (const id of world.keys) {
    const { issued } = await world.key(id);
    const ofRole = new Set<string>(ROLE_SCOPES[(await world.person(issued.owner_id)).role]);
    const rights = await world.rights(id);
    if (!isWithin(rights, ofRole) || !isWithin(rights, new Set(issued.scopes))) return `${id} exceeds`;
  }
  return null;
}

it('no sequence of operations gives a credential more scopes than its operator and its issuer had', async () => {
  const roles = fc.array(fc.constantFrom<Role>(...ROLES), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(roles, fc.array(step, { maxLength: 15 }), async (others, steps) => {
      const world = new RightsWorld();
      for (const role of ['administrator', 'administrator', ...others] as const) await world.add(role);
      for (const each of steps) {
        expect(await take(world, each)).toBeNull();
        expect(await excess(world)).toBeNull();
      }
    }),
    { numRuns: RUNS },
  );
});
