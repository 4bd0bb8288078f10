import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import type { KnownMerchant } from '../../../../platform/http/merchant-directory.js';
import { UsersView } from '../../../users/contract.js';
import { chosenOf } from '../../adapters/providers.js';
import { SANDBOX_NAMES } from '../../adapters/sandbox-providers.js';
import { findApplicant } from '../../application/applicant.js';
import { PresentTerms } from '../../application/present-terms.js';
import { CODE_EVERY_SECONDS } from '../../store/phone-codes.js';
import { WORDS, type Locale } from '../../words/words.js';
import { WidgetGate } from './gate.js';
import type { OnboardingFacts } from './page-types.js';

/** How people know who checks their identity. */
const NAMES: Readonly<Record<string, string>> = { onfido: 'Onfido', sandbox: 'sandbox' };

type PageConfig = Parameters<typeof chosenOf>[0] &
  Pick<Config, 'onboardingMinimumAge' | 'onboardingImageDays'>;

/** Who opens a page, and how. */
export interface Opening {
  readonly merchant: KnownMerchant;
  readonly userId: string;
  readonly callbackUrl: string | null;
  readonly locale: Locale;
}

/** What a page is opened with. */
@Injectable()
export class OnboardingFactsOf {
  constructor(
    @Inject(CONFIG) private readonly config: PageConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly users: UsersView,
    private readonly gate: WidgetGate,
    private readonly terms: PresentTerms,
  ) {}

  /** Throws `not_found`, `invalid_transition` for a user on the way out, `unavailable` where no terms are set. */
  async of({ merchant, userId, callbackUrl, locale }: Opening): Promise<OnboardingFacts> {
    const consent = this.terms.present();
    const { phoneNumber, email } = await findApplicant(this.users, merchant.merchantId, userId);
    return {
      steps: `/onboarding/${merchant.merchantId}/${userId}`,
      userId,
      merchantName: merchant.shownAs,
      phoneNumber,
      email,
      callbackUrl,
      framers: this.gate.framersOf(merchant),
      codeEverySeconds: CODE_EVERY_SECONDS,
      minimumAge: this.config.onboardingMinimumAge,
      identityProvider: NAMES[chosenOf(this.config).identity] ?? null,
      imageDays: this.config.onboardingImageDays,
      consent,
      today: timestamp(this.clock).slice(0, 10),
      sandbox: this.config.mode === 'sandbox' ? SANDBOX_NAMES : null,
      locale,
      words: WORDS[locale],
    };
  }
}
