import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import type { Consent } from '../domain/onboarding.js';
import { onboardingConfig, type OnboardingConfig } from '../settings.js';

interface Document {
  readonly version: string;
  /** An address, or a path of the widget. */
  readonly url: string;
}

interface Terms {
  readonly terms: Document;
  readonly privacy: Document;
}

export const SANDBOX_PATHS = { terms: '/onboarding/terms', privacy: '/onboarding/privacy' } as const;
const SANDBOX_VERSION = 'sandbox';

const SETTINGS = [
  'onboardingTermsUrl',
  'onboardingTermsVersion',
  'onboardingPrivacyUrl',
  'onboardingPrivacyVersion',
] as const;

/** The configured terms and privacy notice. The sandbox has its own; production requires them. */
@Injectable()
export class PresentTerms {
  constructor(@Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig) {}

  /** Names of missing settings. */
  missing(): readonly string[] {
    if (this.config.mode === 'sandbox') return [];
    return SETTINGS.filter((key) => this.config[key] === null).map(
      (key) => onboardingConfig.settings[key].name,
    );
  }

  /** Throws `unavailable`. */
  present(): Terms {
    if (this.missing().length > 0) throw new DomainError('unavailable', 'The terms are not available yet');
    const { config } = this;
    return {
      terms: {
        url: config.onboardingTermsUrl ?? SANDBOX_PATHS.terms,
        version: config.onboardingTermsVersion ?? SANDBOX_VERSION,
      },
      privacy: {
        url: config.onboardingPrivacyUrl ?? SANDBOX_PATHS.privacy,
        version: config.onboardingPrivacyVersion ?? SANDBOX_VERSION,
      },
    };
  }

  consent(): Consent {
    const { terms, privacy } = this.present();
    return { termsVersion: terms.version, privacyVersion: privacy.version };
  }

  /** Throws `invalid_transition` for other versions. */
  require(consent: Consent): void {
    const { termsVersion, privacyVersion } = this.consent();
    const changed = {
      ...(consent.termsVersion !== termsVersion && {
        terms_version: [`is not the present one, ${termsVersion}`],
      }),
      ...(consent.privacyVersion !== privacyVersion && {
        privacy_version: [`is not the present one, ${privacyVersion}`],
      }),
    };
    if (Object.keys(changed).length > 0)
      throw new DomainError('invalid_transition', 'The terms have changed; load the page again', changed);
  }
}
