const own = (transaction_hash, amount, user_id = 'u1') => ({ transaction_hash, user_id, amount });
const payout = (id, transaction_hash, amount, status = 'received', user_id = 'u1') => ({
  ...{ id, user_id, amount, currency_code: 'USDC', status, transaction_hash, reason: null },
  ...{ custom_metadata: {}, created_at: '2026-01-31T12:00:00.000Z' },
});

/** Two lists, and what differs: entries of `own` by their place, payouts by id. */
const reconciliation = (name, expected, listed, differences = {}) => ({
  ...{ name, own: expected, listed },
  expected: {
    matched: 0,
    missing: [],
    unexpected: [],
    different: [],
    pending: [],
    expired: [],
    ...differences,
  },
});

export const reconciliations = [
  reconciliation('two empty lists', [], []),
  reconciliation('one payout in both', [own('0x1', '1')], [payout('p1', '0x1', '1')], { matched: 1 }),
  reconciliation('one that is missing', [own('0x1', '1')], [], { missing: [0] }),
  reconciliation('one that is unexpected', [], [payout('p1', '0x1', '1')], { unexpected: ['p1'] }),
  reconciliation('another amount', [own('0x1', '1')], [payout('p1', '0x1', '2')], { different: [[0, 'p1']] }),
  reconciliation('another user', [own('0x1', '1', 'u2')], [payout('p1', '0x1', '1')], {
    missing: [0],
    unexpected: ['p1'],
  }),
  reconciliation(
    'amounts written in other ways',
    [own('0x1', '01.50'), own('0x2', '2'), own('0x3', '0.10'), own('0x4', '10')],
    [
      payout('p1', '0x1', '1.5'),
      payout('p2', '0x2', '2.000000'),
      payout('p3', '0x3', '0.1'),
      payout('p4', '0x4', '10.0'),
    ],
    { matched: 4 },
  ),
  reconciliation(
    'amounts that differ by a digit',
    [own('0x1', '1.000001'), own('0x2', '10'), own('0x3', '1.01')],
    [payout('p1', '0x1', '1.000002'), payout('p2', '0x2', '1'), payout('p3', '0x3', '1.1')],
    {
      different: [
        [0, 'p1'],
        [1, 'p2'],
        [2, 'p3'],
      ],
    },
  ),
  reconciliation('letters in another case', [own('0XABC', '1', 'U1')], [payout('p1', '0xabc', '1')], {
    matched: 1,
  }),
  reconciliation(
    'hashes with and without a prefix',
    [own('ab'.repeat(32), '1'), own(` 0X${'CD'.repeat(32)} `, '2')],
    [payout('p1', `\u200e0x${'AB'.repeat(32)}\u2069`, '1'), payout('p2', 'cd'.repeat(32), '2')],
    { matched: 2 },
  ),
  reconciliation('one that is pending', [own('0x1', '1')], [payout('p1', '0x1', '1', 'pending')], {
    matched: 1,
    pending: ['p1'],
  }),
  reconciliation('one that expired', [own('0x1', '1')], [payout('p1', '0x1', '1', 'expired')], {
    matched: 1,
    expired: ['p1'],
  }),
  reconciliation(
    'a status that is newer than the client',
    [own('0x1', '1')],
    [payout('p1', '0x1', '1', 'returned')],
    { matched: 1 },
  ),
  reconciliation(
    'one that expired with another amount',
    [own('0x1', '1')],
    [payout('p1', '0x1', '2', 'expired')],
    { different: [[0, 'p1']] },
  ),
  reconciliation(
    'a transfer of two payouts',
    [own('0x1', '1'), own('0x1', '2')],
    [payout('p2', '0x1', '2'), payout('p1', '0x1', '1')],
    { matched: 2 },
  ),
  reconciliation(
    'a transfer of two equal payouts',
    [own('0x1', '1'), own('0x1', '1')],
    [payout('p1', '0x1', '1'), payout('p2', '0x1', '1')],
    { matched: 2 },
  ),
  reconciliation(
    'a transfer that the service has twice',
    [own('0x1', '1')],
    [payout('p1', '0x1', '1'), payout('p2', '0x1', '1')],
    { matched: 1, unexpected: ['p2'] },
  ),
  reconciliation(
    'a transfer that the caller has twice',
    [own('0x1', '1'), own('0x1', '1')],
    [payout('p1', '0x1', '1')],
    { matched: 1, missing: [1] },
  ),
  reconciliation(
    'two other amounts of one transfer',
    [own('0x1', '1'), own('0x1', '2')],
    [payout('p3', '0x1', '3'), payout('p4', '0x1', '4')],
    {
      different: [
        [0, 'p3'],
        [1, 'p4'],
      ],
    },
  ),
  reconciliation(
    'an equal amount comes before another',
    [own('0x1', '1'), own('0x1', '2')],
    [payout('p3', '0x1', '3'), payout('p1', '0x1', '1')],
    { matched: 1, different: [[1, 'p3']] },
  ),
  reconciliation(
    'one transfer to two users',
    [own('0x1', '1', 'u1'), own('0x1', '1', 'u2')],
    [payout('p2', '0x1', '1', 'received', 'u2')],
    { matched: 1, missing: [0] },
  ),
  reconciliation(
    'all kinds at once',
    [own('0x1', '1'), own('0x2', '2'), own('0x3', '3'), own('0x4', '4'), own('0x5', '5')],
    [
      payout('p9', '0x9', '9'),
      payout('p4', '0x4', '4.5'),
      payout('p3', '0x3', '3', 'expired'),
      payout('p2', '0x2', '2', 'pending'),
      payout('p1', '0x1', '1'),
    ],
    {
      matched: 3,
      missing: [4],
      unexpected: ['p9'],
      different: [[3, 'p4']],
      pending: ['p2'],
      expired: ['p3'],
    },
  ),
];
