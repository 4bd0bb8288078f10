import { Body, Param, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { PageCall, PageController } from '../../../../platform/http/pages/page.js';
import { Refusal } from '../../../../platform/http/problem.js';
import { BytesBelow } from '../../../../platform/http/request-body.js';
import { ReceiveCallback, type CallbackOutcome } from '../../application/receive-callback.js';
import { ONBOARDING_PAGE } from './onboarding-page.js';

/** Where identity providers report decisions (contract.md 18.22). */
@PageController(ONBOARDING_PAGE, 'callbacks/identity')
export class IdentityCallbacksController {
  constructor(private readonly commandBus: CommandBus) {}

  /** Of any type: the bytes are what is signed, and nothing parses them before the signature is verified. */
  @PageCall(':provider')
  @BytesBelow(16_384)
  async receive(
    @Param('provider') provider: string,
    @Req() { headers }: FastifyRequest,
    @Body() body: Buffer,
  ): Promise<object> {
    refuse(await this.commandBus.execute(new ReceiveCallback(provider, headers, body)));
    return { received: true };
  }
}

function refuse(outcome: CallbackOutcome): void {
  if (outcome === 'unknown_provider') throw DomainError.notFound('Identity provider');
  if (outcome === 'malformed')
    throw new DomainError('bad_request', 'The body is no callback of this provider');
  if (outcome === 'forged')
    throw new Refusal({ status: 401, detail: 'The signature is not that of the body' });
  if (outcome === 'expired')
    throw new Refusal({ status: 401, detail: 'The callback was signed too long ago, or in the future' });
}
