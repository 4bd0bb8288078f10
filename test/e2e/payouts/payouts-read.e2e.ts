import { beforeAll, describe, expect, it } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { sharedApp } from '../../support/app.js';
import {
  createPayee,
  createUser,
  expirePayout,
  PAYOUTS,
  randomHash,
  REPORT,
  reported,
  settledPayout,
  USERS,
  type PayoutBody,
} from '../../support/payouts/payout-calls.js';
import { SignedClient, type ApiResponse } from '../../support/http/signed-client.js';

interface Page {
  readonly payouts: PayoutBody[];
  readonly next_cursor: string | null;
  readonly totals?: Readonly<Record<string, { readonly count: number; readonly amount: string }>>;
}

const app = await sharedApp();
const { merchant } = app;

describe('reading payouts', () => {
  const problem = (response: ApiResponse, status: number, detail: RegExp): void => {
    expect(response.status).toBe(status);
    expect(response.headers['content-type']).toContain('application/problem+json');
    expect(response.json()).toMatchObject({
      status,
      errors: {},
      instance: null,
      detail: expect.stringMatching(detail),
    });
  };
  /** Returns the lines of an export. The checking client accepts JSON alone. */
  const exportOf = async (by: SignedClient, accept: string, query: string): Promise<string[]> => {
    const { status, headers, text } = await new SignedClient(app.url, by.credentials).get(
      `${PAYOUTS}${query}`,
      { accept },
    );
    expect([status, headers['content-type']]).toEqual([200, `${accept}; charset=utf-8`]);
    return text.split(/\r?\n/).slice(0, -1);
  };
  const list = async (query: string, by = merchant): Promise<Page> => {
    const response = await by.get(`${PAYOUTS}${query}`);
    expect(response.status).toBe(200);
    return response.json();
  };
  const ids = (page: Page): string[] => page.payouts.map(({ id }) => id);

  describe('GET /payouts/{id}', () => {
    it('200: returns a payout with its status and reason once it is received or expired', async () => {
      const payee = await createPayee(merchant);
      const paid = await reported(merchant, payee.id, {
        transaction_hash: (await app.chain.transfer(payee.wallet, '1')).hash,
        custom_metadata: { n: 1 },
      });
      const unpaid = await reported(merchant, payee.id);
      expect(await settledPayout(merchant, paid.id)).toEqual({ ...paid, status: 'received' });
      const expired = await expirePayout(merchant, unpaid.id);
      expect(expired).toEqual({ ...unpaid, status: 'expired', reason: expect.stringMatching(/not found/) });
      expect(Object.keys(expired)).toEqual(Object.keys(unpaid));
    });
  });

  describe('GET /payouts', () => {
    let owner: SignedClient;
    let users: string[];
    const listed: PayoutBody[] = [];

    beforeAll(async () => {
      owner = await app.newMerchant();
      users = [await createUser(owner), await createUser(owner)];
      for (let n = 0; n < 7; n += 1) listed.unshift(await reported(owner, users[n % 2]!));
    });

    it('200: lists payouts newest first, on pages that newer payouts do not shift, to an end', async () => {
      const all = ids(await list('', owner));
      expect([...all].sort()).toEqual(listed.map(({ id }) => id).sort());
      const first = await list('?page_size=3', owner);
      expect(ids(first)).toEqual(all.slice(0, 3));
      listed.unshift(await reported(owner, users[0]!));
      const rest = await list(`?page_cursor=${first.next_cursor}`, owner);
      expect([ids(rest), rest.next_cursor]).toEqual([all.slice(3), null]);
      const other = await app.newMerchant();
      expect((await other.get(PAYOUTS)).text).toBe('{"payouts":[],"next_cursor":null}');
    });

    it('200: with totals=true, each page has the count and amount of all matches by status', async () => {
      const payer = await app.newMerchant();
      const [one, two] = [await createPayee(payer), await createPayee(payer)];
      const { hash } = await app.chain.transfer(one.wallet, '12.5');
      const paid = await reported(payer, one.id, { amount: '12.5', transaction_hash: hash });
      for (const [user, amount] of [
        [one, '0.000001'],
        [two, '9999.999999'],
        [two, '10000'],
      ] as const)
        await expirePayout(payer, (await reported(payer, user.id, { amount })).id);
      await settledPayout(payer, paid.id);
      const none = { count: 0, amount: '0' };
      const totals = async (query: string): Promise<Page['totals']> =>
        (await list(`?totals=true${query}`, payer)).totals;
      const received = { count: 1, amount: '12.5' };
      const all = { pending: none, received, expired: { count: 3, amount: '20000' } };
      expect(await totals('')).toEqual(all);
      const first = await list('?totals=true&page_size=2', payer);
      expect(await totals(`&page_size=2&page_cursor=${first.next_cursor}`)).toEqual(all);
      const ofOne = { ...all, expired: { count: 1, amount: '0.000001' } };
      expect(await totals(`&user_id=${one.id}`)).toEqual(ofOne);
      expect(await totals(`&user_id=${one.id}&status=received`)).toEqual({ ...ofOne, expired: none });
      expect(await totals(`&transaction_hash=${hash}`)).toEqual({ ...all, expired: none });
      expect(await totals('&created_from=2999-01-01')).toEqual({ ...all, received: none, expired: none });
      expect(await list('', payer)).not.toHaveProperty('totals');
      problem(await payer.get(`${PAYOUTS}?totals=yes`), 400, /totals/);
    });

    it('200: finds payouts by transaction, in either letter case, and by the external_id of the user', async () => {
      const external_id = `player ${randomUUID()}`;
      const created = await owner.post(USERS, { phone_number: '+15557654321', external_id });
      const { id } = created.json().user;
      const hash = randomHash();
      const named = await reported(owner, id, { transaction_hash: hash });
      await reported(owner, id);
      const other = await reported(merchant, await createUser(merchant), { transaction_hash: hash });
      expect(ids(await list(`?transaction_hash=${hash.toUpperCase().replace('X', 'x')}`, owner))).toEqual([
        named.id,
      ]);
      expect(ids(await list(`?transaction_hash=${hash}`, merchant))).toEqual([other.id]);
      for (const form of [hash.slice(2), hash.replace('0x', '0X'), `%20${hash.slice(2)}%20`])
        expect(ids(await list(`?transaction_hash=${form}`, owner))).toEqual([named.id]);
      expect(ids(await list(`?transaction_hash=${hash}&status=received`, owner))).toEqual([]);
      const query = `?external_id=${encodeURIComponent(external_id)}`;
      expect((await list(query, owner)).payouts).toHaveLength(2);
      expect(ids(await list(`${query}&transaction_hash=${hash}&user_id=${id}`, owner))).toEqual([named.id]);
      for (const copied of [
        ` ${external_id}\u00a0`,
        `\u200e${external_id}\u200b`,
        external_id.replace('-', '\u00ad-'),
      ])
        expect((await list(`?external_id=${encodeURIComponent(copied)}`, owner)).payouts).toHaveLength(2);
      expect(ids(await list(`?transaction_hash=%E2%80%8B${hash}%20`, owner))).toEqual([named.id]);
      expect(ids(await list(`?transaction_hash=${hash}&user_id=%20${id}%E2%80%8B`, owner))).toEqual([
        named.id,
      ]);
      for (const none of [`${query}&user_id=${users[0]}`, '?external_id=unknown', '?external_id=%00'])
        expect(ids(await list(none, owner))).toEqual([]);
      expect(ids(await list(query, merchant))).toEqual([]);
    });

    it('200: exports all payouts as lines of JSON or CSV with the reported metadata', async () => {
      const seller = await app.newMerchant();
      const id = await createUser(seller);
      // Formatted JSON, quotes, and a number beyond doubles.
      const text = '{\n "note": "a \\"b\\", c",\n "n": 12345678901234567890 }';
      const payout = `{"amount":"1","transaction_hash":"tx, \\"q\\" ,\\"custom_metadata\\":1","custom_metadata":${text}}`;
      const first = await seller.post(REPORT, `{"user_id":"${id}","payout":${payout}}`);
      await expirePayout(seller, first.json().payout.id);
      await Promise.all(Array.from({ length: 250 }, () => reported(seller, id)));
      const lines = await exportOf(seller, 'application/x-ndjson', '');
      expect(lines).toHaveLength(251);
      expect(lines[250]).toContain('"n": 12345678901234567890');
      const all = (await list('?page_size=1000', seller)).payouts;
      expect(lines.map((line) => JSON.parse(line) as PayoutBody)).toEqual(all);
      const [columns, ...rows] = await exportOf(seller, 'text/csv', '');
      expect(columns).toBe(
        'id,user_id,amount,currency_code,status,transaction_hash,reason,custom_metadata,created_at',
      );
      expect(rows).toHaveLength(251);
      expect(rows[250]).toBe(
        [
          all[250]!.id,
          id,
          `1,USDC,expired,"tx, ""q"" ,""custom_metadata"":1",${all[250]!.reason}`,
          `"{  ""note"": ""a \\""b\\"", c"",  ""n"": 12345678901234567890 }"`,
          all[250]!.created_at,
        ].join(),
      );
      expect(await exportOf(seller, 'text/csv', '?status=received')).toHaveLength(1);
      expect(await exportOf(seller, 'application/x-ndjson', '?external_id=unknown')).toEqual([]);
      for (const accept of ['application/json, text/csv;q=0.1', '*/*'])
        expect((await seller.get(`${PAYOUTS}?page_size=1`, { accept })).headers['content-type']).toContain(
          'json',
        );
      const plain = new SignedClient(app.url, seller.credentials);
      const head = await plain.call({ method: 'HEAD', path: PAYOUTS, headers: { accept: 'text/csv' } });
      const { 'content-type': type } = head.headers;
      expect([head.status, type, head.text]).toEqual([200, 'text/csv; charset=utf-8', '']);
      // Only one export may run at a time.
      expect(await exportOf(seller, 'application/x-ndjson', `?user_id=${id}&page_size=1`)).toHaveLength(251);
    });

    it.each([
      ['transaction_hash', ''],
      ['external_id', '&external_id=x'],
      ['user_id', 'none'],
      ['status', 'paid'],
      ['created_from', '2026-02-30'],
      ['created_from', '2026-01-01T00:00:00Z'],
      ['created_to', 'yesterday'],
      ['page_size', '0'],
      ['page_size', '1001'],
      ['page_size', ''],
      ['page_cursor', 'abc'],
    ])('400: names %s when it is %j', async (name, value) => {
      problem(await merchant.get(`${PAYOUTS}?${name}=${value}`), 400, new RegExp(`^${name} `));
    });
  });

  describe('GET /payouts/{id}/evidence', () => {
    let payee: { readonly id: string; readonly wallet: string };
    beforeAll(async () => {
      payee = await createPayee(merchant);
    });
    const evidenceOf = (id: string): Promise<ApiResponse> => merchant.get(`${PAYOUTS}/${id}/evidence`);

    it('200: equals the data of the chain', async () => {
      const { hash, blockNumber, blockHash } = await app.chain.transfer(payee.wallet, '12.5');
      const sent = ` ${hash.toUpperCase().replace('X', 'x')}`;
      const payout = await reported(merchant, payee.id, { amount: '12.50', transaction_hash: sent });
      await settledPayout(merchant, payout.id);
      const response = await evidenceOf(payout.id.toUpperCase());
      expect(response.status).toBe(200);
      const { evidence } = response.json();
      const block = (await app.chain.rpc('eth_getBlockByHash', [blockHash, false])) as { timestamp: string };
      expect(evidence).toEqual({
        payout_id: payout.id,
        chain_id: 31337,
        transaction_hash: hash,
        log_index: 0,
        value: '12500000',
        block_number: blockNumber,
        block_hash: blockHash,
        confirmations: expect.any(Number),
        block_time: new Date(Number(block.timestamp) * 1000).toISOString(),
        token: app.chain.usdcAddress.toLowerCase(),
        to: payee.wallet.toLowerCase(),
        from: (await app.chain.funded.getAddress()).toLowerCase(),
        created_at: payout.created_at,
        received_at: expect.any(String),
        receipt: expect.any(Object),
      });
      const { sha256, json } = evidence.receipt;
      expect(createHash('sha256').update(json).digest('hex')).toBe(sha256);
      expect(JSON.parse(json)).toEqual(await app.chain.rpc('eth_getTransactionReceipt', [hash]));
    });

    it('409: refuses a payout that is pending or expired', async () => {
      const { id } = await reported(merchant, payee.id);
      problem(await evidenceOf(id), 409, /^The payout is pending: there is no evidence of it$/);
      await expirePayout(merchant, id);
      problem(await evidenceOf(id), 409, /^The payout is expired/);
    });
  });
});
