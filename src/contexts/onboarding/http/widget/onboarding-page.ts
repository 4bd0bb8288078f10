import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Page } from '../../../../platform/http/listeners.js';
import { CLOCK, type Clock, HOUR_MS } from '../../../../kernel/clock.js';
import { readBearer, PageSessions, VisitorLimits } from '../../../../platform/http/pages/visitors.js';
import { KeyedHash } from '../../../../platform/sealing/keyed-hash.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { readUuid } from '../../../../kernel/ids.js';
import {
  MERCHANT_DIRECTORY,
  type MerchantProfile,
  type MerchantDirectory,
} from '../../../../platform/http/merchant-directory.js';
import { Refusal, SUSPENDED } from '../../../../platform/http/problem.js';
import { MESSAGES } from '../../words/messages.js';
import { getRequest } from '../../../../platform/http/request-state.js';

/** The onboarding widget, `{widget_url}/onboarding` (contract.md 18). */
export const ONBOARDING_PAGE: Page = {
  name: 'onboarding',
  path: '/onboarding',
  role: 'widget',
  port: ({ widgetPort }) => widgetPort,
  messages: MESSAGES,
  // The camera and images to upload are blobs.
  media: "img-src 'self' data: blob:; media-src blob:",
  // The timeout allows photos over a slow connection.
  requestTimeoutMs: 60_000,
};

const VALID_MS = HOUR_MS;

/** Sessions of users who entered the code from their phone, by user id. */
@Injectable()
export class OnboardingSessions extends PageSessions<string> {
  constructor(@Inject(CLOCK) clock: Clock, keyedHash: KeyedHash) {
    super('onboarding session', VALID_MS, clock, keyedHash);
  }
}

/** The user a request is about. Only a session proves who sent it. */
export interface OnboardingVisitor {
  readonly merchant: MerchantProfile;
  readonly userId: string;
}

/** Admits requests about users of active merchants, within the limits of visitors. */
@Injectable()
export class VisitorGuard implements CanActivate {
  constructor(
    @Inject(MERCHANT_DIRECTORY) private readonly directory: MerchantDirectory,
    private readonly limits: VisitorLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = getRequest(context);
    const { merchantId, userId } = request.params as Readonly<Record<string, string>>;
    await this.admit(merchantId, userId, request);
    return true;
  }

  /** Counts a request. Throws `not_found`, also for ids that are no uuid, and {@link Refusal} (403, 429). */
  async admit(
    merchant_id: unknown,
    user_id: unknown,
    { edge, ip }: FastifyRequest,
  ): Promise<OnboardingVisitor> {
    const [merchantId, userId] = [readUuid(merchant_id), readUuid(user_id)];
    const merchant = merchantId === null ? null : await this.directory.find(merchantId);
    if (merchant === null || userId === null) throw DomainError.notFound('User');
    if (merchant.status === 'suspended') throw new Refusal(SUSPENDED);
    const visitor = { merchant, userId };
    this.limits.take(ip, merchant.merchantId, visitor.userId);
    edge.merchant = merchant;
    edge.visitor = visitor;
    return visitor;
  }
}

@Injectable()
export class SessionGuard implements CanActivate {
  constructor(private readonly sessions: OnboardingSessions) {}

  canActivate(context: ExecutionContext): boolean {
    const request = getRequest(context);
    const { userId } = request.edge.visitor as OnboardingVisitor;
    if (this.sessions.read(readBearer(request)) === userId) return true;
    throw new DomainError('forbidden', 'Confirm your phone number first', { session: ['has ended'] });
  }
}
