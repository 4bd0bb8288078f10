import { Body, Inject, Logger, Param, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { PageCall, PageController } from '../../../platform/http/pages/page.js';
import { Refusal } from '../../../platform/http/problem.js';
import { BytesBelow } from '../../../platform/http/request-body.js';
import { IdentityVerifier } from '../providers/providers.ports.js';
import { identityCallbacks } from '../onboarding.metrics.js';
import { onboardingConfig, type OnboardingConfig } from '../onboarding.config.js';
import { Verifications } from './verifications.store.js';
import { ONBOARDING_PAGE } from '../widget/onboarding-session.guard.js';

/** The maximum time by which a provider's clock may be ahead. */
const AHEAD_MS = 300_000;

const REFUSALS = {
  unknown_provider: DomainError.notFound('Identity provider'),
  malformed: new DomainError('bad_request', 'The body is not a callback of this provider'),
  forged: new Refusal({ status: 401, detail: 'The signature does not match the body' }),
  expired: new Refusal({ status: 401, detail: 'The callback was signed too long ago, or in the future' }),
};

/** Receives webhooks. They only trigger a poll, because their content is not trusted (contract.md 18.22). */
@PageController(ONBOARDING_PAGE, 'callbacks/identity')
export class IdentityCallbacksController {
  private readonly logger = new Logger(IdentityCallbacksController.name);

  constructor(
    private readonly identity: IdentityVerifier,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
    private readonly verifications: Verifications,
  ) {}

  /** Verifies the signature of the raw body before parsing it. */
  @PageCall(':provider')
  @BytesBelow(16_384)
  async receive(
    @Param('provider') provider: string,
    @Req() { headers }: Pick<FastifyRequest, 'headers'>,
    @Body() body: Buffer,
  ): Promise<object> {
    const outcome = await this.toOutcome(provider, headers, body);
    identityCallbacks.inc({ outcome });
    if (outcome in REFUSALS) throw REFUSALS[outcome as keyof typeof REFUSALS];
    return { received: true };
  }

  private async toOutcome(
    provider: string,
    headers: FastifyRequest['headers'],
    body: Buffer,
  ): Promise<keyof typeof REFUSALS | 'accepted' | 'unknown_check'> {
    const read = this.identity.provider === provider && (await this.identity.readCallback?.(headers, body));
    if (!read) return 'unknown_provider';
    if (typeof read === 'string') return read;
    const ageMs = this.clock.now().getTime() - read.at.getTime();
    if (ageMs > this.config.identityCallbackMaxAgeSeconds * 1000 || ageMs < -AHEAD_MS) return 'expired';
    if (await this.verifications.pollNow(provider, read.check)) return 'accepted';
    this.logger.log({ msg: 'identity callback ignored: unknown check', provider, check: read.check });
    return 'unknown_check';
  }
}
