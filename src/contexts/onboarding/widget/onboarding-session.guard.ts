import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Page } from '../../../platform/http/listeners.js';
import { CLOCK, type Clock, HOUR_MS } from '../../../kernel/clock.js';
import { readBearer, PageSessions, VisitorLimits } from '../../../platform/http/pages/visitors.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readUuid } from '../../../kernel/ids.js';
import { MerchantDirectory, type MerchantProfile } from '../../../platform/http/merchant-directory.js';
import { Refusal, SUSPENDED } from '../../../platform/http/problem.js';
import { MESSAGES } from '../words/messages.js';
import { getRequest } from '../../../platform/http/request-state.js';

/** The listener of the onboarding widget, `{widget_url}/onboarding` (contract.md 18). */
export const ONBOARDING_PAGE: Page = {
  name: 'onboarding',
  path: '/onboarding',
  role: 'widget',
  port: ({ widgetPort }) => widgetPort,
  messages: MESSAGES,
  // Camera previews and selected images are blobs.
  media: "img-src 'self' data: blob:; media-src blob:",
  // Photos may arrive over a slow connection.
  requestTimeoutMs: 60_000,
};

/** The sessions of users who have entered a code, by user id. */
@Injectable()
export class OnboardingSessions extends PageSessions<string> {
  constructor(@Inject(CLOCK) clock: Clock, keyedHash: KeyedHash) {
    super('onboarding session', HOUR_MS, clock, keyedHash);
  }
}

/** The user in the URL of a request. Only a session authenticates the user. */
export interface OnboardingVisitor {
  readonly merchant: MerchantProfile;
  readonly userId: string;
}

/** Admits requests for users of active merchants, within the rate limits of visitors. */
@Injectable()
export class VisitorGuard implements CanActivate {
  constructor(
    private readonly directory: MerchantDirectory,
    private readonly limits: VisitorLimits,
  ) {}

  /** Counts the request. Throws `not_found`, also for ids that are not UUIDs, or Refusal (403, 429). */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { params, query, edge, ip } = getRequest(context);
    const { merchant_id, user_id } = query as Readonly<Record<string, unknown>>;
    const { merchantId = merchant_id, userId = user_id } = params as Readonly<Record<string, unknown>>;
    const ids = { merchant: readUuid(merchantId), user: readUuid(userId) };
    const merchant = ids.merchant === null ? null : await this.directory.find(ids.merchant);
    if (merchant === null || ids.user === null) throw DomainError.notFound('User');
    if (merchant.status === 'suspended') throw new Refusal(SUSPENDED);
    this.limits.take(ip, merchant.merchantId, ids.user);
    edge.merchant = merchant;
    edge.visitor = { merchant, userId: ids.user } satisfies OnboardingVisitor;
    return true;
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
