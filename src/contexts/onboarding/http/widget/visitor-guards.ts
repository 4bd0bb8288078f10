import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { isUuid } from '../../../../kernel/ids.js';
import { SUSPENDED } from '../../../../platform/http/authentication.js';
import {
  MERCHANT_DIRECTORY,
  type KnownMerchant,
  type MerchantDirectory,
} from '../../../../platform/http/merchant-directory.js';
import { bearerOf, VisitorLimits } from '../../../../platform/http/pages/visitors.js';
import { Refusal } from '../../../../platform/http/problem.js';
import { OnboardingSessions } from './onboarding-sessions.js';

/** Whom a request is about. Only a session proves that they sent it. */
export interface OnboardingVisitor {
  readonly merchant: KnownMerchant;
  readonly userId: string;
}

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<FastifyRequest>();

/** Lets in requests about a user of a merchant that is registered and not suspended, within the limits of visitors. */
@Injectable()
export class VisitorGuard implements CanActivate {
  constructor(
    @Inject(MERCHANT_DIRECTORY) private readonly directory: MerchantDirectory,
    private readonly limits: VisitorLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const { merchantId, userId } = request.params as Readonly<Record<string, string>>;
    await this.admit(merchantId, userId, request);
    return true;
  }

  /** Counts a request. Throws `not_found`, also for ids that are no uuid, and {@link Refusal} (403, 429). */
  async admit(
    merchantId: unknown,
    userId: unknown,
    { edge, ip }: FastifyRequest,
  ): Promise<OnboardingVisitor> {
    if (!isUuid(merchantId) || !isUuid(userId)) throw DomainError.notFound('User');
    const merchant = await this.directory.find(merchantId.toLowerCase());
    if (merchant === null) throw DomainError.notFound('User');
    if (merchant.status === 'suspended') throw new Refusal(SUSPENDED);
    const visitor = { merchant, userId: userId.toLowerCase() };
    this.limits.take(ip, merchant.merchantId, visitor.userId);
    edge.merchant = merchant;
    edge.visitor = visitor;
    return visitor;
  }
}

/** Lets in requests with a session of the user. */
@Injectable()
export class SessionGuard implements CanActivate {
  constructor(private readonly sessions: OnboardingSessions) {}

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const { userId } = request.edge.visitor as OnboardingVisitor;
    if (this.sessions.read(bearerOf(request)) === userId) return true;
    throw new DomainError('forbidden', 'Confirm your phone number first', { session: ['has ended'] });
  }
}
