import { problemResponse, type OpenApiFragment } from '../../../platform/openapi/fragment.js';

const userResponse = (description: string): object => ({
  description,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['user'],
        additionalProperties: false,
        properties: { user: { $ref: '#/components/schemas/User' } },
      },
    },
  },
});

/** Users (contract.md 8), but for the balance. */
export const usersApi: OpenApiFragment = {
  paths: {
    '/merchants/v1/users': {
      post: {
        operationId: 'createUser',
        tags: ['Users'],
        summary: 'Create a user',
        description:
          'The answer is the same whether or not the phone number belongs to an existing account. An Idempotency-Key makes repeats safe.',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/NewUser' } } },
        },
        responses: {
          201: userResponse('The user was created, in onboarding.'),
          400: problemResponse('The JSON or the Idempotency-Key is malformed.'),
          422: problemResponse('A field is missing, malformed, or taken by another user of the merchant.'),
        },
      },
    },
    '/merchants/v1/users/{id}': {
      get: {
        operationId: 'getUser',
        tags: ['Users'],
        summary: 'Get a user',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
        responses: {
          200: userResponse('The user.'),
          404: problemResponse('The merchant has no such user.'),
        },
      },
    },
    '/merchants/v1/users/by_issuer_wallet_address': {
      get: {
        operationId: 'getUserByIssuerWalletAddress',
        tags: ['Users'],
        summary: 'Find the user who has a wallet',
        parameters: [
          {
            name: 'address',
            in: 'query',
            required: true,
            description: 'The issuer wallet address, in either letter case.',
            schema: { type: 'string', minLength: 1 },
          },
        ],
        responses: {
          200: userResponse('The user whose wallet is at the address.'),
          400: problemResponse('The parameter address is missing.'),
          404: problemResponse('No user of the merchant has a wallet at the address.'),
        },
      },
    },
  },
  schemas: {
    NewUser: {
      type: 'object',
      required: ['phone_number'],
      properties: {
        phone_number: {
          type: 'string',
          description:
            'Plausible E.164: a plus, the country code and the number. Unique within the merchant.',
          examples: ['+15550001111'],
        },
        email: {
          type: ['string', 'null'],
          description: 'Trimmed and lower-cased; blank is kept as null.',
          examples: ['ada@example.com'],
        },
        external_id: {
          type: ['string', 'null'],
          description:
            "The merchant's own id: 1 to 255 characters after trimming. Unique within the merchant.",
          examples: ['customer-7'],
        },
      },
    },
    User: {
      type: 'object',
      required: [
        'id',
        'external_id',
        'phone_number',
        'email',
        'created_at',
        'account_state',
        'issuer_wallet_address',
      ],
      additionalProperties: false,
      properties: {
        id: { type: 'string', format: 'uuid' },
        external_id: { type: ['string', 'null'], minLength: 1 },
        phone_number: { type: 'string', pattern: '^\\+[1-9][0-9]{6,14}$' },
        email: { type: ['string', 'null'] },
        created_at: { type: 'string', format: 'date-time' },
        account_state: { enum: ['onboarding', 'active', 'deactivating', 'deactivated'] },
        issuer_wallet_address: {
          type: ['string', 'null'],
          pattern: '^0x[0-9a-fA-F]{40}$',
          description: 'EIP-55 checksummed; null until the wallet is provisioned.',
        },
      },
    },
  },
};
