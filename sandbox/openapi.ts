import type { OpenApiFragment } from '../src/platform/openapi/fragment.js';

/** The sandbox's own endpoint; absent outside sandbox mode. */
export const sandboxApi: OpenApiFragment = {
  paths: {
    '/merchants/v1/sandbox/transfers': {
      post: {
        operationId: 'createSandboxTransfer',
        tags: ['Sandbox'],
        summary: 'Broadcast a transfer of test USDC',
        description:
          'Sends test USDC on the dev chain, as a merchant does before reporting a payout. Only in the sandbox.',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/SandboxTransfer' } } },
        },
        responses: {
          201: {
            description: 'The transfer was broadcast.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/SandboxTransferSent' } } },
          },
        },
      },
    },
  },
  schemas: {
    SandboxTransfer: {
      type: 'object',
      required: ['to', 'amount'],
      properties: {
        to: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description: 'The receiving address.' },
        amount: {
          type: 'string',
          pattern: '^[0-9]+(\\.[0-9]{1,6})?$',
          description: 'USDC, more than 0 and at most 1000000.',
          examples: ['12.50'],
        },
      },
    },
    SandboxTransferSent: {
      type: 'object',
      required: ['transaction_hash'],
      additionalProperties: false,
      properties: { transaction_hash: { type: 'string', pattern: '^0x[0-9a-f]{64}$' } },
    },
  },
};
