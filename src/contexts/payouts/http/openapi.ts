import { problemResponse, type OpenApiFragment } from '../../../platform/openapi/fragment.js';

const amount = {
  type: 'string',
  pattern: '^[0-9]+(\\.[0-9]{1,6})?$',
  description: 'A decimal of USDC.',
  examples: ['25.50'],
};

const wrapped = (description: string, name: string, schema: string): object => ({
  description,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: [name],
        additionalProperties: false,
        properties: { [name]: { $ref: `#/components/schemas/${schema}` } },
      },
    },
  },
});

const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } };
const query = (name: string, description: string, schema: object): object => ({
  name,
  in: 'query',
  description,
  schema,
});

/** Payouts and balances (contract.md 9, 11). */
export const payoutsApi: OpenApiFragment = {
  paths: {
    '/merchants/v1/payouts/report': {
      post: {
        operationId: 'reportPayout',
        tags: ['Payouts'],
        summary: 'Report a payout',
        description:
          'Records a payout for a transfer that was broadcast already. The service verifies the transfer on the chain and sends payout.received or payout.failed. An Idempotency-Key is strongly recommended.',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/PayoutReport' } } },
        },
        responses: {
          201: wrapped('The payout is recorded and pending.', 'payout', 'Payout'),
          400: problemResponse('The JSON or the Idempotency-Key is malformed.'),
          404: problemResponse('user_id matches no user of the merchant.'),
          409: problemResponse(
            'The first request with this Idempotency-Key is under way, or the user is deactivated.',
          ),
          422: problemResponse('A field is missing or wrong.'),
        },
      },
    },
    '/merchants/v1/payouts/{id}': {
      get: {
        operationId: 'getPayout',
        tags: ['Payouts'],
        summary: 'Get a payout',
        parameters: [id],
        responses: {
          200: wrapped('The payout.', 'payout', 'Payout'),
          404: problemResponse('The merchant has no such payout.'),
        },
      },
    },
    '/merchants/v1/payouts': {
      get: {
        operationId: 'listPayouts',
        tags: ['Payouts'],
        summary: 'List payouts, newest first',
        parameters: [
          query('user_id', 'Only payouts to this user.', { type: 'string', format: 'uuid' }),
          query('status', 'Only payouts in this status.', { enum: ['pending', 'received', 'expired'] }),
          query('created_from', 'First day, in UTC.', { type: 'string', format: 'date' }),
          query('created_to', 'Last day, inclusive, in UTC.', { type: 'string', format: 'date' }),
          query('page_size', 'Payouts per page.', {
            type: 'integer',
            minimum: 1,
            maximum: 1000,
            default: 1000,
          }),
          query('page_cursor', 'The next_cursor of the page before.', { type: 'string' }),
        ],
        responses: {
          200: {
            description:
              'One page: page_size payouts, or fewer once they have more than 4 MiB. The list is exhausted when next_cursor is null.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['payouts', 'next_cursor'],
                  additionalProperties: false,
                  properties: {
                    payouts: {
                      type: 'array',
                      maxItems: 1000,
                      items: { $ref: '#/components/schemas/Payout' },
                    },
                    next_cursor: { type: ['string', 'null'] },
                  },
                },
              },
            },
          },
          400: problemResponse('A filter, page_size or page_cursor is invalid; detail names it.'),
        },
      },
    },
    '/merchants/v1/users/{id}/balance': {
      get: {
        operationId: 'getBalance',
        tags: ['Users'],
        summary: 'Get the balance of a user',
        parameters: [id],
        responses: {
          200: wrapped("Sums over the user's payouts.", 'balance', 'Balance'),
          404: problemResponse('The merchant has no such user.'),
        },
      },
    },
  },
  schemas: {
    PayoutReport: {
      type: 'object',
      required: ['user_id', 'payout'],
      properties: {
        user_id: { type: 'string', format: 'uuid' },
        payout: {
          type: 'object',
          required: ['amount', 'transaction_hash'],
          properties: {
            amount: { ...amount, description: 'More than 0 and at most 10000, with up to 6 decimals.' },
            transaction_hash: { type: 'string', minLength: 1, maxLength: 255 },
            currency_code: { enum: ['USDC', null], default: 'USDC' },
            custom_metadata: {
              type: ['object', 'null'],
              description:
                'Free-form; comes back byte for byte. At most 16384 bytes of JSON and 32 levels. null means none.',
            },
          },
        },
      },
    },
    Payout: {
      type: 'object',
      required: [
        'id',
        'user_id',
        'amount',
        'currency_code',
        'status',
        'transaction_hash',
        'reason',
        'custom_metadata',
        'created_at',
      ],
      additionalProperties: false,
      properties: {
        id: { type: 'string', format: 'uuid' },
        user_id: { type: 'string', format: 'uuid' },
        amount,
        currency_code: { const: 'USDC' },
        status: { enum: ['pending', 'received', 'expired'] },
        transaction_hash: { type: 'string' },
        reason: { type: ['string', 'null'], description: 'Why the payout expired; null otherwise.' },
        custom_metadata: { type: 'object' },
        created_at: { type: 'string', format: 'date-time' },
      },
    },
    Balance: {
      type: 'object',
      required: ['confirmed', 'pending', 'committed', 'currency_code'],
      additionalProperties: false,
      properties: {
        confirmed: { ...amount, description: 'Sum of received payouts.' },
        pending: { ...amount, description: 'Sum of pending payouts.' },
        committed: { ...amount, description: 'confirmed + pending.' },
        currency_code: { const: 'USDC' },
      },
    },
  },
};
