import { describe, expect, it } from '@jest/globals';
import { LOGIN_REQUIRED, Problem, theOne, theRows, type Query } from './client.js';
import { allRows, MAX_EXPORTED } from './export-rows.js';
import { at, csvOf, queryOf } from './fields.js';
import { bodyOf, initialValues, rebase, type FormField } from './form.js';
import { capital, money, shortened, spoken, visible } from './text.js';
import { axisRange, axisTime, relative, span, utc } from './time.js';

describe('the display of untrusted text', () => {
  it('replaces characters that hide or reorder text by their codes', () => {
    expect(visible('pay \u202egnp.exe\u0000')).toBe('pay \\u202egnp.exe\\u0000');
    expect(visible('José 東京 👍\nnext')).toBe('José 東京 👍\nnext');
  });

  it('formats a code as words', () => expect(capital(spoken('pending_approval'))).toBe('Pending approval'));

  it('shortens ids and no other text', () => {
    expect(shortened('0f8fad5b-d9cb-469f-a165-70867728950e')).toBe('0f8fad5b…950e');
    expect(shortened('order-17')).toBe('order-17');
  });
});

describe('amounts', () => {
  it.each([
    ['1234567.5', '1,234,567.50'],
    ['0.000001', '0.000001'],
    ['10000', '10,000.00'],
    ['-12', '-12.00'],
    ['9007199254740993.123456', '9,007,199,254,740,993.123456'],
    ['a lot', 'a lot'],
  ])('%s is displayed as %s, without rounding', (amount, text) => expect(money(amount)).toBe(text));
});

describe('times', () => {
  const now = Date.parse('2026-11-22T14:00:00Z');

  it('are displayed in UTC, and an invalid time as it is', () => {
    expect(utc('2026-11-22T15:03:11.250+01:00')).toBe('2026-11-22 14:03:11');
    expect(utc('soon')).toBe('soon');
  });

  it.each([
    ['2026-11-22T13:59:58Z', 'now'],
    ['2026-11-22T13:59:00Z', '1 min ago'],
    ['2026-11-22T11:30:00Z', '2 h ago'],
    ['2026-11-25T14:00:00Z', 'in 3 d'],
    ['soon', ''],
  ])('that are %s are displayed as %j', (time, text) => expect(relative(time, now)).toBe(text));

  it('fill the axis of a chart from the first point to the last, and for at least a minute', () => {
    expect(axisRange([100, 7000], 9000)).toEqual([100, 7000]);
    expect(axisRange([5000], 9000)).toEqual([4940, 5000]);
    expect(axisRange([], 9000)).toEqual([8940, 9000]);
  });

  it('are displayed on the axis of a chart in UTC, with the day where a day begins', () => {
    const at = Date.parse('2026-11-22T15:04:30Z') / 1000;
    expect([axisTime(at, 30), axisTime(at, 60), axisTime(at, 86_400)]).toEqual([
      '15:04:30',
      '15:04',
      '11-22',
    ]);
    expect(axisTime(Date.parse('2026-11-22T00:00:00Z') / 1000, 3_600)).toBe('11-22');
  });

  it('are displayed as spans with the two largest units', () => {
    expect(span(3 * 3_600_000 + 5 * 60_000 + 9_000)).toBe('3 h 5 min');
    expect(span(86_400_000 + 30_000)).toBe('1 d');
    expect(span(400)).toBe('0 s');
  });
});

describe('rows of a response', () => {
  it('return values by path and nothing that is inherited', () => {
    expect(at({ check: { next_at: null } }, 'check.next_at')).toBeNull();
    expect(at({ check: null }, 'check.next_at')).toBeUndefined();
    expect(at({}, 'constructor.name')).toBeUndefined();
  });

  it('are found under any name, as is a single resource', () => {
    expect(theRows({ payouts: [{ id: '1' }, 'no row'], next_cursor: null })).toEqual([{ id: '1' }]);
    expect(theRows({ problem: 'none' })).toEqual([]);
    expect(theOne({ operation_id: 'x', payout: { id: '1' } })).toEqual({ id: '1' });
  });

  it('are requested without empty filters in the query', () => {
    expect(queryOf({ status: 'pending', merchant_id: '', page_cursor: null })).toBe('?status=pending');
    expect(queryOf({})).toBe('');
  });

  it('are exported as CSV that no spreadsheet executes', () => {
    const fields = [
      { label: 'Name', of: 'name' },
      { label: 'Amount', of: 'amount' },
    ];
    const rows = [
      { name: '=HYPERLINK("http://x")', amount: '-5.5' },
      { name: '@sum, "quoted"\nline', amount: null },
    ];
    expect(csvOf(fields, rows)).toBe(
      'Name,Amount\r\n"\'=HYPERLINK(""http://x"")",-5.5\r\n"\'@sum, ""quoted""\nline",\r\n',
    );
  });
});

describe('the export of a list', () => {
  const client = (total: number, requested: object[] = []) => ({
    get: async (_: string, query: Query) => {
      requested.push(query);
      const from = Number(query['page_cursor'] ?? 0);
      const size = Number(query['page_size']);
      const rows = Array.from({ length: Math.min(size, total - from) }, (_, n) => ({ id: String(from + n) }));
      const next = from + size < total ? String(from + size) : null;
      return { body: { payouts: rows, next_cursor: next }, etag: null };
    },
  });

  it('reads all rows of the filter, page by page', async () => {
    const requested: object[] = [];
    const { rows, isCut } = await allRows(client(2500, requested), '/payouts', { status: 'pending' });
    expect([rows.length, rows.at(-1), isCut]).toEqual([2500, { id: '2499' }, false]);
    expect(requested).toEqual(
      [null, '1000', '2000'].map((page_cursor) => ({ page_size: '1000', status: 'pending', page_cursor })),
    );
  });

  it.each([
    [9_999, false],
    [10_000, false],
    [10_001, true],
    [25_000, true],
  ])('of %d rows contains at most 10,000', async (total, cut) => {
    const { rows, isCut } = await allRows(client(total), '/payouts', {});
    expect([rows.length, isCut]).toEqual([Math.min(total, MAX_EXPORTED), cut]);
  });
});

describe('a form', () => {
  const fields: FormField[] = [
    { name: 'name', label: 'Name', initial: 'name' },
    {
      name: 'limits.requests_per_minute',
      label: 'Limit',
      kind: 'number',
      initial: 'limits.requests_per_minute',
    },
    { name: 'ip_allow_list', label: 'Addresses', kind: 'lines', initial: 'ip_allow_list' },
    { name: 'demands_signing', label: 'Signed', kind: 'tick' },
  ];
  const merchant = { name: 'Shop', limits: { requests_per_minute: 100 }, ip_allow_list: ['10.0.0.0/8'] };

  it('sends only what a person changed', () => {
    const before = initialValues(fields, merchant);
    expect(bodyOf(fields, before, before)).toEqual({});
    const after = { ...before, 'limits.requests_per_minute': '200', ip_allow_list: '', name: ' ' };
    expect(bodyOf(fields, after, before)).toEqual({
      name: null,
      limits: { requests_per_minute: 200 },
      ip_allow_list: [],
    });
  });

  it('sends no unchanged member of an object, and no list that only differs in spaces', () => {
    const embedding = ['origins', 'callbacks', 'display_name'].map((name): FormField => {
      const path = `embedding.${name}`;
      return { name: path, label: name, initial: path, ...(name !== 'display_name' && { kind: 'lines' }) };
    });
    const before = initialValues(embedding, { embedding: { origins: ['https://a'], display_name: 'Shop' } });
    const after = { ...before, 'embedding.origins': ' https://a\n', 'embedding.display_name': 'Books' };
    expect(bodyOf(embedding, after, before)).toEqual({ embedding: { display_name: 'Books' } });
  });

  it('merges the entries of a person into a newer state', () => {
    const before = initialValues(fields, { ...merchant, ip_allow_list: ['10.0.0.0/8', '192.0.2.1'] });
    const newer = { ...merchant, name: 'Store', ip_allow_list: ['10.0.0.0/8', '192.0.2.1', '192.0.2.7'] };
    const after = initialValues(fields, newer);
    const own = {
      ...before,
      'limits.requests_per_minute': '200',
      ip_allow_list: '192.0.2.1\n192.0.2.9',
      reason: 'Their office moved',
    };
    const withReason: FormField[] = [...fields, { name: 'reason', label: 'Reason', required: true }];
    expect(rebase(withReason, own, { before, after })).toEqual({
      name: 'Store',
      'limits.requests_per_minute': '200',
      ip_allow_list: '192.0.2.1\n192.0.2.7\n192.0.2.9',
      demands_signing: '',
      reason: 'Their office moved',
    });
  });

  it('omits empty fields, and fields of another kind, from a new resource', () => {
    const of = (kind: string) => ({ kind }) as const;
    const kinds: FormField[] = [
      { name: 'kind', label: 'Kind' },
      { name: 'scopes', label: 'Scopes', kind: 'checks', when: (values) => values['kind'] === 'admin' },
    ];
    expect(bodyOf(kinds, { ...of('admin'), scopes: 'audit:read\nsystem:read' }, null)).toEqual({
      kind: 'admin',
      scopes: ['audit:read', 'system:read'],
    });
    expect(bodyOf(kinds, { ...of('payouts'), scopes: 'audit:read' }, null)).toEqual({ kind: 'payouts' });
    expect(bodyOf(fields, { name: 'Shop' }, null)).toEqual({ name: 'Shop' });
    expect(bodyOf(fields, { name: 'Shop', demands_signing: 'true' }, null)).toEqual({
      name: 'Shop',
      demands_signing: true,
    });
  });

  it('sends a tick only if it differs from the default of the API', () => {
    const signed: FormField = { name: 'demands_signing', label: 'Signed', kind: 'tick', preset: 'true' };
    expect(bodyOf([signed], { demands_signing: 'true' }, null)).toEqual({});
    expect(bodyOf([signed], { demands_signing: '' }, null)).toEqual({ demands_signing: false });
  });

  it('reads times as UTC', () => {
    const field: FormField = { name: 'expires_at', label: 'Expires', kind: 'time' };
    expect(bodyOf([field], { expires_at: '2027-01-01T08:30' }, null)).toEqual({
      expires_at: '2027-01-01T08:30:00.000Z',
    });
  });
});

describe('a refusal of the API', () => {
  it('requests a sign-in only if a sign-in resolves the refusal', () => {
    expect(new Problem(403, LOGIN_REQUIRED, '').wantsLogin).toBe(true);
    expect(new Problem(403, 'Access forbidden', 'The scope merchants:write is missing').wantsLogin).toBe(
      false,
    );
  });
});
