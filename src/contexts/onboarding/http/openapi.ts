import { problemResponse, type OpenApiFragment } from '../../../platform/openapi/fragment.js';

/** The sandbox's way through the onboarding; absent outside sandbox mode. */
export const onboardingApi: OpenApiFragment = {
  paths: {
    '/merchants/v1/sandbox/users/{id}/complete_onboarding': {
      post: {
        operationId: 'completeSandboxOnboarding',
        tags: ['Sandbox'],
        summary: 'Complete the onboarding of a user',
        description:
          'Goes through the real onboarding with the providers of the sandbox, and answers once the user is active. Only in the sandbox.',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
        responses: {
          200: {
            description: 'The user is active and has a wallet.',
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
          },
          404: problemResponse('The merchant has no such user.'),
          409: problemResponse('The user is deactivating or deactivated.'),
        },
      },
    },
  },
  schemas: {},
};
