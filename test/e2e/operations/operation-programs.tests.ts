import { CommandBus } from '@nestjs/cqrs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { AddPasskey } from '../../../src/contexts/access/operators/operators.commands.js';
import type { Walk } from '../../../src/contexts/audit/verify/explain.service.js';
import type { AdminClient } from '../../support/admin/admin-client.js';
import type { TestApp } from '../../support/app.js';
import { expectAuditPasses } from '../../support/audit-passes.js';
import { eventually } from '../../support/eventually.js';
import { programsFor } from '../../support/programs/cli.js';

/** The programs of operators, on the service of the suite. */
export function describePrograms(app: TestApp): void {
  describe('the operator programs', () => {
    let [ada, bob]: AdminClient[] = [];

    beforeAll(async () => {
      ada = await app.newAdmin();
      bob = await app.newAdmin();
    });

    const run = async (program: string, ...args: string[]): Promise<string> =>
      (await programsFor(app, { OPERATIONS_APPROVALS: 'on' })(program, ...args)).printed;
    const json = async <T>(program: string, ...args: string[]): Promise<T> =>
      JSON.parse(await run(program, '--json', ...args)) as T;

    it('remove a passkey of an operator and list the others', async () => {
      const { operatorId } = await app.newAdmin({ role: 'viewer' });
      const passkey = { credential_id: 'cred', public_key: 'p', counter: 0, transports: ['usb'] };
      await app.app.get(CommandBus).execute(new AddPasskey(operatorId, passkey));
      expect(await json('operator', 'passkeys', operatorId)).toEqual({
        passkeys: [{ credential_id: 'cred', transports: ['usb'] }],
      });
      const { operation_id } = await json<{ operation_id: string }>(
        'operator',
        'remove-passkey',
        operatorId,
        'cred',
        '--reason',
        'the device was lost',
      );
      expect((await bob!.get(`/operations/${operation_id}`)).json()).toMatchObject({
        operation: { name: 'operators.remove_passkey', status: 'executed', reason: 'the device was lost' },
      });
      expect(await run('operator', 'passkeys', operatorId)).toContain('No passkeys');
      await expect(run('operator', 'remove-passkey', operatorId, 'cred')).rejects.toThrow('not found');
    });

    it('refuse a change whose reason is too short', async () => {
      await expect(run('audit', 'key', 'rotate', '--reason', 'no')).rejects.toThrow(
        'reason must have 3 to 500 characters',
      );
    });

    it('explain an operation with its operator, events and proofs, and a merchant with its operations', async () => {
      const id = app.secondMerchant.credentials.apiKey;
      const written = await ada!.change(`/merchants/${id}`, '', {
        embedding: { display_name: 'Shop' },
        reason: 'a request of theirs',
      });
      const { operation_id: operation } = written.json();
      const explained = async (...subject: string[]): Promise<Walk> =>
        JSON.parse(await run('audit', '--json', 'explain', ...subject)) as Walk;
      const walk = await eventually(async () => {
        const found = await explained('operation', operation);
        return found.events.every(({ leaf }) => leaf.proof === 'proven') && found;
      });
      expect(walk).toMatchObject({ missing: [], head: { problem: null } });
      expect(walk.events.map(({ stream, type }) => [stream, type.replace(/\.v\d+$/, '')])).toEqual([
        [`operation-${operation}`, 'operation.requested'],
        [`merchant-${id}`, 'merchant.embedding_set'],
        [`operation-${operation}`, 'operation.executed'],
      ]);
      expect(walk.causes).toEqual([walk.events[1]!.position, walk.events[0]!.position]);
      expect(walk.events[0]!.data).toMatchObject({
        name: 'merchants.update',
        reason: 'a request of theirs',
        requested_by: { name: 'Test operator', role: 'administrator', operator_id: ada!.operatorId },
      });
      const printed = await run('audit', 'explain', 'operation', operation);
      expect(printed).toMatch(/merchant\.embedding_set\.v\d .*\d+, proven /);
      expect(printed).toContain('"name":"Test operator"');
      expect(printed).not.toContain('NOT');
      const back = await explained('merchant', id);
      expect(back.events.map(({ stream }) => stream)).toContain(`operation-${operation}`);
      await expectAuditPasses(app.config.databaseUrl!);
    });
  });
}
