import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Walk } from '../../../src/contexts/audit/verify/explain.service.js';
import { LookupsView } from '../../../src/contexts/operations/search/lookups.view.js';
import type { OperationJson } from '../../../src/platform/operations/operations.js';
import { testApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { programsFor } from '../../support/programs/cli.js';
import { describePrograms } from './operation-programs.tests.js';

const reason = 'an older version wrote it';
const because = { reason: 'checked with the team' };

// A separate service, because heads are signed every second and the whole log is verified.
const app = await testApp({ AUDIT_HEAD_SECONDS: '1' });

const ada = await app.newAdmin();
const bob = await app.newAdmin();
const viewer = await app.newAdmin({ role: 'viewer' });

describe('operations of operators', () => {
  let types = 0;

  const nextType = (): string => `older.event_${(types += 1)}.v1`;
  const request = async (type: string): Promise<OperationJson> => {
    const body = { reason, ticket: 'OPS-1' };
    const response = await ada.post(`/system/event_types/${type}/let_pass`, body);
    expect(response.status).toBe(202);
    return response.json().operation;
  };
  const passing = (type: string) =>
    app.database.query('select reason from event_store.passing_types where type = $1', [type]);
  const listed = async (query: string): Promise<OperationJson[]> =>
    (await ada.get(`/operations?${query}`)).json<{ operations: OperationJson[] }>().operations;

  /** Returns the rows outside the log that `audit explain operation` lists. */
  const changedBy = async (id: string): Promise<readonly string[]> => {
    const { printed } = await programsFor(app)('audit', '--json', 'explain', 'operation', id);
    const { changed_rows: rows } = JSON.parse(printed) as Pick<Walk, 'changed_rows'>;
    return rows.map(({ what, id: row }) => `${what} ${row}`);
  };

  it('that need approval have no effect until another operator approves them', async () => {
    const type = nextType();
    const operation = await request(type);
    expect(operation).toMatchObject({
      ...{ name: 'event_types.let_pass', status: 'pending_approval', approval: 'required' },
      subject: { kind: 'event_type', id: type, revision: null },
      ...{ parameters: {}, reason, ticket: 'OPS-1' },
      requested_by: { operator_id: ada.operatorId, name: 'Test operator', role: 'administrator' },
      expires_at: new Date(Date.parse(operation.requested_at) + 72 * 3_600_000).toISOString(),
      ...{ decided_by: null, decision_reason: null, executed_at: null, failure: null },
    });
    expect(await passing(type)).toEqual([]);
    expect(await listed(`status=pending_approval&subject_id=${type}`)).toEqual([operation]);

    const path = `/operations/${operation.id}`;
    const own = await ada.post(`${path}/approve`, because);
    expect([own.status, own.json().detail]).toEqual([403, 'Another person must approve this operation']);
    const without = await viewer.post(`${path}/approve`, because);
    expect([without.status, without.json().detail]).toEqual([403, 'The scope system:write is missing']);
    expect((await bob.post(`${path}/approve`, {})).json()).toMatchObject({
      status: 422,
      errors: { reason: [expect.any(String)] },
    });

    const approved = await bob.post(`${path}/approve`, because);
    expect(approved.status).toBe(200);
    expect(approved.json()).toMatchObject({
      operation_id: operation.id,
      operation: {
        status: 'executed',
        decided_by: { operator_id: bob.operatorId },
        decision_reason: because.reason,
        executed_at: expect.any(String),
      },
    });
    expect(await passing(type)).toEqual([{ reason }]);
    expect(await changedBy(operation.id)).toEqual([`passing_type ${type}`]);
    expect((await bob.post(`${path}/reject`, because)).status).toBe(409);
    expect((await ada.get(path)).headers['etag']).toBe('"2"');
    expect((await ada.get(path)).json()).toEqual({
      operation: approved.json().operation,
    });
    expect(
      await listed(`status=executed&operator_id=${ada.operatorId}&name=event_types.let_pass`),
    ).toHaveLength(1);
    expect(await listed('status=pending_approval')).toEqual([]);
  });

  it('that belong to no merchant are hidden with 404 from a key confined to one merchant', async () => {
    const merchantId = app.merchant.credentials.apiKey;
    const confined = await app.newAdmin({ merchants: [merchantId] });
    const { id } = await request(nextType());
    expect((await confined.get(`/operations/${id}`)).status).toBe(404);
    expect((await confined.get('/operations')).json()).toEqual({ operations: [], next_cursor: null });
    for (const decision of ['approve', 'reject', 'confirm'])
      expect((await confined.post(`/operations/${id}/${decision}`, because)).status).toBe(404);
  });

  it('are listed in pages; an unknown filter gets 400, and an unknown operation gets 404', async () => {
    expect((await ada.get('/operations?state=executed')).status).toBe(400);
    expect((await ada.get('/operations?status=done')).status).toBe(400);
    expect((await ada.get(`/operations/${randomUUID()}`)).status).toBe(404);
    expect((await bob.post(`/operations/${randomUUID()}/confirm`, because)).status).toBe(404);
    const first = (await ada.get('/operations?page_size=1')).json<{
      operations: OperationJson[];
      next_cursor: string;
    }>();
    const next = await listed(`page_size=1&page_cursor=${first.next_cursor}`);
    expect(next[0]!.requested_at <= first.operations[0]!.requested_at).toBe(true);
    expect(next[0]!.id).not.toBe(first.operations[0]!.id);
  });

  it('rebuild a read model in the background', async () => {
    const rebuild = await ada.post('/system/projections/operations.views/rebuild', { reason });
    expect(rebuild.json()).toMatchObject({ operation: { status: 'executed', approval: 'none' } });
    expect(rebuild.status).toBe(202);
    expect((await ada.post('/system/projections/nothing/rebuild', { reason })).status).toBe(404);
    const open = () => app.database.query(`select from work.items where kind = 'operations.rebuilding'`);
    await eventually(async () => (await open()).length === 0);
    const { id } = rebuild.json().operation;
    expect((await listed('name=projections.rebuild'))[0]).toMatchObject({ id, status: 'executed' });
    expect(await changedBy(id)).toEqual(['read_model operations.views']);
  });

  it('retire a former master key only with a second operator', async () => {
    const response = await ada.post('/system/master_key/retire_former', { reason });
    const { operation } = response.json();
    expect([response.status, operation.status]).toEqual([202, 'pending_approval']);
    const approved = await bob.post(`/operations/${operation.id}/approve`, because);
    expect(approved.json()).toMatchObject({ operation: { status: 'executed' } });
  });

  it('are listed for the merchant together with reads of operators, newest first', async () => {
    const id = (await app.newMerchant()).credentials.apiKey;
    // Each change reads the merchant first. The reads of an hour are one lookup.
    for (const name of ['Shop', 'Store'])
      expect((await ada.change(`/merchants/${id}`, '', { name, reason })).status).toBe(200);
    const view = app.app.get(LookupsView, { strict: false });
    const list = (page_size: number) => view.page(id, { page_size });
    await eventually(async () => (await list(10)).lookups.length === 3);
    const { lookups, next_cursor } = await list(10);
    const by = { at: expect.any(Date), operator_name: 'Test operator' };
    const write = { ...by, kind: 'write', subject: `merchants.update merchant ${id}`, reason };
    const read = { ...by, kind: 'read', subject: `merchant ${id}`, reason: null };
    expect([lookups, next_cursor]).toEqual([[write, write, read], null]);
    const first = await list(1);
    expect(first.lookups).toEqual([lookups[0]]);
    expect(first.next_cursor).not.toBeNull();
  });
});

describePrograms(app);

const AT_ONCE = 20;

describe('concurrent decisions of one operator', () => {
  let types = 0;

  const requested = async (): Promise<string> => {
    const path = `/system/event_types/older.type_${(types += 1)}.v1/let_pass`;
    return (await ada.post(path, { reason })).json().operation.id;
  };
  const suspended = async (): Promise<string> => {
    const { apiKey } = (await app.newMerchant()).credentials;
    const done = await ada.change(`/merchants/${apiKey}`, '/suspend', { reason });
    return done.json().operation_id;
  };

  it.each([
    ['approve', 'executed', requested, () => bob],
    ['reject', 'rejected', requested, () => bob],
    ['reject', 'withdrawn', requested, () => ada],
    ['confirm', 'executed', suspended, () => bob],
  ] as const)('to %s are recorded once, as %s; the others get 409', async (decision, status, begin, who) => {
    const path = `/operations/${await begin()}`;
    const tries = Array.from({ length: AT_ONCE }, (_, n) => {
      const body = { reason: `${reason}, number ${n}` };
      const options = { idempotencyKey: randomUUID() };
      return { body, options, send: () => who().post(`${path}/${decision}`, body, options) };
    });
    const responses = await Promise.all(tries.map(({ send }) => send()));
    const codes = responses.map((response) => response.status).sort();
    expect(codes).toEqual([200, ...Array.from({ length: AT_ONCE - 1 }, () => 409)]);
    const first = responses.findIndex((response) => response.status === 200);
    const { operation } = (await bob.get(path)).json();
    expect([operation.status, operation.decision_reason]).toEqual([status, tries[first]!.body.reason]);
    expect((await tries[first]!.send()).text).toBe(responses[first]!.text);

    // The state after a crash between the decision and its response.
    const key = tries[first]!.options.idempotencyKey;
    await app.database.query('delete from event_store.responses where key = $1', [key]);
    const again = await tries[first]!.send();
    expect([again.status, again.text]).toEqual([200, responses[first]!.text]);
    expect((await tries[(first + 1) % AT_ONCE]!.send()).status).toBe(409);
  });
});
