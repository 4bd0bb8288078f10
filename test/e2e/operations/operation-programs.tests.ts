import { CommandBus } from '@nestjs/cqrs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { AddPasskey } from '../../../src/contexts/access/application/operator-commands.js';
import type { Walk } from '../../../src/contexts/audit/application/explain.js';
import type { OperationJson } from '../../../src/platform/operations/operations.js';
import type { AdminClient } from '../../support/admin/admin-client.js';
import type { TestApp } from '../../support/app.js';
import { expectAuditPasses } from '../../support/audit-passes.js';
import { eventually } from '../../support/eventually.js';
import { invoke } from '../../support/programs/cli.js';

interface Merchant {
  readonly merchant: { readonly status: string };
}

/** The programs of operators, on the service of the suite. */
export function describePrograms(app: TestApp): void {
  describe('what programs change', () => {
    let [ada, bob]: AdminClient[] = [];

    beforeAll(async () => {
      ada = await app.newAdmin();
      bob = await app.newAdmin();
    });

    const run = async (key: string | null, program: string, ...args: string[]): Promise<string> => {
      const { databaseUrl, masterKey } = app.config;
      const env = {
        DATABASE_URL: databaseUrl!,
        MASTER_KEY: masterKey!,
        OPERATIONS_APPROVALS: 'on',
        ...(key !== null && { DISBURSE_ADMIN_KEY: key }),
      };
      return (await invoke(program, env, ...args)).printed;
    };
    const json = async <T>(key: string | null, program: string, ...args: string[]): Promise<T> =>
      JSON.parse(await run(key, program, '--json', ...args)) as T;
    const statusOf = async (id: string): Promise<string> =>
      (await ada!.get(`/merchants/${id}`)).json<Merchant>().merchant.status;

    it('is an operation of the person whose key they are run with, and of the shell without one', async () => {
      const id = app.secondMerchant.credentials.apiKey;
      const { operation_id } = await json<{ operation_id: string }>(
        ada!.key,
        'merchant',
        'suspend',
        id,
        '--reason',
        'fraud is suspected',
        '--ticket',
        'OPS-7',
      );
      const { operation } = (await bob!.get(`/operations/${operation_id}`)).json<{
        operation: OperationJson;
      }>();
      expect(operation).toMatchObject({
        name: 'merchants.suspend',
        status: 'unconfirmed',
        reason: 'fraud is suspected',
        ticket: 'OPS-7',
        requested_by: { operator_id: ada!.operatorId, role: 'administrator' },
      });
      expect(await statusOf(id)).toBe('suspended');

      const waiting = await json<{ operation: OperationJson }>(
        null,
        'merchant',
        'reinstate',
        id,
        '--reason',
        'it was not',
      );
      expect(waiting.operation).toMatchObject({
        status: 'pending_approval',
        requested_by: { operator_id: null, name: 'shell' },
      });
      expect(await statusOf(id)).toBe('suspended');
      const approve = ['approve', waiting.operation.id, '--reason', 'agreed'];
      await expect(run(null, 'operation', ...approve)).rejects.toThrow('Only a person decides');
      expect(await run(bob!.key, 'operation', ...approve)).toMatch(/status\s+executed/);
      await eventually(async () => (await statusOf(id)) === 'active');
    });

    it('waits for a second person, and says how to approve it; one key more of the same person is no second person', async () => {
      const type = 'older.program.v1';
      const printed = await run(
        ada!.key,
        'subscriptions',
        'let-pass',
        type,
        '--reason',
        'rolled back for good',
      );
      const [, id] = /operation (\S{36}) waits until/.exec(printed)!;
      expect(printed).toContain(`npm run operation -- approve ${id} --reason <text>`);
      const second = await app.newAdmin({ operatorId: ada!.operatorId });
      await expect(run(second.key, 'operation', 'approve', id!, '--reason', 'mine')).rejects.toThrow(
        'Another person must approve this operation',
      );
      expect(await run(ada!.key, 'operation', 'list', '--status', 'pending_approval')).toContain(id);
      expect(await run(ada!.key, 'operation', 'reject', id!, '--reason', 'a mistake')).toMatch(
        /status\s+withdrawn/,
      );
    });

    it('removes a passkey of a person, and lists what is left', async () => {
      const { operatorId } = await app.newAdmin({ role: 'viewer' });
      const passkey = { credential_id: 'cred', public_key: 'p', counter: 0, transports: ['usb'] };
      await app.app.get(CommandBus).execute(new AddPasskey(operatorId, passkey));
      expect(await json(null, 'operator', 'passkeys', operatorId)).toEqual({
        passkeys: [{ credential_id: 'cred', transports: ['usb'] }],
      });
      const { operation_id } = await json<{ operation_id: string }>(
        ada!.key,
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
      expect(await run(null, 'operator', 'passkeys', operatorId)).toContain('No passkeys');
      await expect(run(null, 'operator', 'remove-passkey', operatorId, 'cred')).rejects.toThrow('not found');
    });

    it('needs a reason, and a key that is valid and has the scope', async () => {
      const id = app.merchant.credentials.apiKey;
      await expect(run(null, 'merchant', 'suspend', id, '--reason', 'no')).rejects.toThrow(
        'reason must have 3 to 500 characters',
      );
      await expect(run(`${ada!.key}x`, 'merchant', 'suspend', id)).rejects.toThrow('not a valid admin key');
      const viewer = await app.newAdmin({ role: 'viewer' });
      await expect(run(viewer.key, 'merchant', 'suspend', id)).rejects.toThrow(
        'The scope merchants:write is missing',
      );
      expect(await statusOf(id)).toBe('active');
    });

    it('is explained from the person to the event, its leaf and a signed head, and back', async () => {
      const id = app.secondMerchant.credentials.apiKey;
      const { operation_id: operation } = await json<{ operation_id: string }>(
        ada!.key,
        'merchant',
        'embedding',
        id,
        '--shown-as',
        'Shop',
        '--reason',
        'a request of theirs',
      );
      const explained = async (...subject: string[]): Promise<Walk> =>
        JSON.parse(await run(null, 'audit', '--json', 'explain', ...subject)) as Walk;
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
      const printed = await run(null, 'audit', 'explain', 'operation', operation);
      expect(printed).toMatch(/merchant\.embedding_set\.v\d .*\d+, proven /);
      expect(printed).toContain('"name":"Test operator"');
      expect(printed).not.toContain('NOT');
      const back = await explained('merchant', id);
      expect(back.events.map(({ stream }) => stream)).toContain(`operation-${operation}`);
      await expectAuditPasses(app.config.databaseUrl!);
    });
  });
}
