import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { Refusal } from '../../../../platform/http/problem.js';
import { ReceiveCallback, type CallbackOutcome } from '../../application/receive-callback.js';

/** `POST {widget_url}/callbacks/identity/:provider` (contract.md 18.22): where identity providers say that they decided. */
@Injectable()
export class IdentityCallbacks {
  constructor(private readonly commandBus: CommandBus) {}

  serve(routes: FastifyInstance): void {
    void routes.register((scope, _options, done) => {
      // Of whatever type: the bytes are what is signed, and nobody reads them before that.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body));
      scope.post('/callbacks/identity/:provider', (request, reply) => this.receive(request, reply));
      done();
    });
  }

  private async receive(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { provider } = request.params as { readonly provider: string };
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const outcome = await this.commandBus.execute(new ReceiveCallback(provider, request.headers, body));
    refuse(outcome);
    return reply.send({ received: true });
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
