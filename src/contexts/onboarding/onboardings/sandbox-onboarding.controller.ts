import { setTimeout as wait } from 'node:timers/promises';
import { Controller, Inject, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { EVENT_STORE, type EventMetadata, type EventStore } from '../../../platform/event-store/port.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { Cause, MerchantId, UuidParam } from '../../../platform/http/decorators.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { userJson, UserResponse, USERS_VIEW, type ExistingUser } from '../../users/users.contract.js';
import { Onboardings, SendPhoneCode, TakeStep, type Step } from './onboardings.commands.js';
import { SmsInbox } from '../providers/providers.ports.js';
import { PresentTerms } from './present-terms.service.js';
import { REQUIRED_IMAGES } from '../identity/image-kind.js';

const ACTIVATION_TIMEOUT_MS = 10_000;
const POLL_MS = 20;
const DETAILS = { first_name: 'Sandy', last_name: 'Box', date_of_birth: '1990-01-01' };
const GREY_PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAMgAAADICAAAAACIM/FCAAAAtklEQVR42u3PQREAAAwCIKMb3ddK7KAB6RMRERERERERERER' +
    'ERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERER' +
    'ERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERER' +
    'ETkDnJgkk7vm1XgAAAAASUVORK5CYII=',
  'base64',
);

/** Completes an onboarding with fictitious data and waits for the activation. Sandbox only. */
@Controller('merchants/v1/sandbox/users')
export class SandboxOnboardingController {
  private readonly running = new Map<string, Promise<ExistingUser>>();

  constructor(
    private readonly commandBus: CommandBus,
    private readonly progress: SubscriptionProgress,
    private readonly onboardings: Onboardings,
    private readonly terms: PresentTerms,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    private readonly inbox: SmsInbox,
  ) {}

  @Post(':id/complete_onboarding')
  @ApiRoute({
    id: 'completeSandboxOnboarding',
    tag: 'Sandbox',
    summary: 'Complete the onboarding of a user',
    description:
      'Goes through the real onboarding with the providers of the sandbox, and responds once the user is active. Only in the sandbox.',
    responses: {
      200: [UserResponse, 'The user is active and has a wallet.'],
      404: 'The merchant has no such user.',
      409: 'The user is deactivating or deactivated.',
    },
  })
  async complete(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'User') userId: string,
    @Cause() cause: EventMetadata,
  ): Promise<UserResponse> {
    // Concurrent calls for one user share one run.
    const key = `${merchantId} ${userId}`;
    const run =
      this.running.get(key) ??
      this.onboard(merchantId, userId, cause).finally(() => this.running.delete(key));
    this.running.set(key, run);
    const user = await run;
    // The activation precedes this head, so later lists of users include it.
    await this.progress.waitFor(USERS_VIEW, await this.store.head());
    return { user: userJson(user) };
  }

  private async onboard(merchantId: string, userId: string, cause: EventMetadata): Promise<ExistingUser> {
    const user = await this.onboardings.applicant(merchantId, userId);
    if (user.account_state === 'active') return user;
    const take = (step: Step) => this.commandBus.execute(new TakeStep(merchantId, userId, step, cause));
    let state = await take({ name: 'start' });
    if (state.stage === 'started') {
      const { phone_number: phoneNumber } = user;
      const browser = newId();
      await this.commandBus.execute(new SendPhoneCode(merchantId, userId, { browser, address: null }));
      const code = this.inbox.lastCode(phoneNumber) ?? '';
      state = await take({ name: 'verify_phone', phoneNumber, code, browser });
    }
    if (state.stage === 'phone_verified' || state.stage === 'kyc_failed')
      state = await take({ name: 'confirm_details', details: DETAILS, consent: this.terms.consent() });
    if (state.stage === 'card_failed') await take({ name: 'retry_card' });
    if (state.stage === 'details_confirmed') {
      for (const kind of REQUIRED_IMAGES)
        await take({ name: 'store_image', image: { kind, type: 'image/png', bytes: GREY_PNG } });
      await take({ name: 'submit_identity' });
    }
    return this.activation(merchantId, userId);
  }

  private async activation(merchantId: string, userId: string): Promise<ExistingUser> {
    const deadline = performance.now() + ACTIVATION_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const user = await this.onboardings.applicant(merchantId, userId);
      if (user.account_state === 'active') return user;
      await wait(POLL_MS);
    }
    throw new DomainError('unavailable', 'The onboarding is still in progress; try again');
  }
}
