import { expect, it } from '@jest/globals';
import { OPERATION_FAILPOINTS } from '../../../src/contexts/operations/failpoints.js';
import type { OperationJson } from '../../../src/platform/operations/operations.js';
import { onTestApp } from '../../support/app.js';
import { CLI, runBuilt } from '../../support/erasure/killed.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';

const app = onTestApp();

it(
  'an operation whose process is killed at any of its points is executed once, by a worker',
  async () => {
    const [ada, bob] = [await app.newAdmin(), await app.newAdmin()];
    for (const point of OPERATION_FAILPOINTS) {
      const id = (await app.newMerchant()).credentials.apiKey;
      const because = ['--reason', `killed at ${point}`];
      const needsApproval = point === 'operation.approved';
      const env = {
        FAILPOINT: point,
        OPERATIONS_APPROVALS: needsApproval ? 'on' : 'off',
        ...(needsApproval && { DISBURSE_ADMIN_KEY: bob.key }),
      };
      const args = ['merchant', 'suspend', id, ...because];
      if (needsApproval) {
        const suspended = await ada.change(`/merchants/${id}`, '/suspend', { reason: 'a precaution' });
        expect(suspended.status).toBe(200);
        const waiting = await ada.change(`/merchants/${id}`, '/reinstate', { reason: 'it was none' });
        const { operation } = waiting.json<{ operation: OperationJson }>();
        args.splice(0, 3, 'operation', 'approve', operation.id);
      }
      expect([point, await runBuilt(app, CLI, env, ...args).ended]).toEqual([point, 'SIGKILL']);
      const name = needsApproval ? 'merchants.reinstate' : 'merchants.suspend';
      await eventually(async () => {
        const rows = await app.database.query<{ status: string }>(
          'select status from operations.operations where subject_id = $1 and name = $2',
          [id, name],
        );
        return rows.map(({ status }) => status).join() === 'executed';
      }, 2 * WAIT_MS);
      const type = needsApproval ? 'merchant.reinstated.v1' : 'merchant.suspended.v1';
      const [row] = await app.database.query<{ changes: number }>(
        'select count(*)::int as changes from event_store.events where stream = $1 and type = $2',
        [`merchant-${id}`, type],
      );
      expect([point, row!.changes]).toEqual([point, 1]);
    }
  },
  8 * WAIT_MS,
);
