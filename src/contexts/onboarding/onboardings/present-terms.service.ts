import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import type { Consent } from './onboarding.js';
import { onboardingConfig, type OnboardingConfig } from '../onboarding.config.js';

export const SANDBOX_PATHS = { terms: '/onboarding/terms', privacy: '/onboarding/privacy' } as const;
const SANDBOX_VERSION = 'sandbox';

const SETTINGS = [
  'onboardingTermsUrl',
  'onboardingTermsVersion',
  'onboardingPrivacyUrl',
  'onboardingPrivacyVersion',
] as const;

/** The current terms and privacy notice. The sandbox has built-in texts; production requires settings. */
@Injectable()
export class PresentTerms {
  constructor(@Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig) {}

  missing(): readonly string[] {
    if (this.config.mode === 'sandbox') return [];
    return SETTINGS.filter((key) => this.config[key] === null).map(
      (key) => onboardingConfig.settings[key].name,
    );
  }

  /** Returns the terms and privacy notice; a URL may be a path of the widget. Throws `unavailable`. */
  present() {
    if (this.missing().length > 0) throw new DomainError('unavailable', 'The terms are not available yet');
    const [termsUrl, termsVersion, privacyUrl, privacyVersion] = SETTINGS.map((key) => this.config[key]);
    return {
      terms: { url: termsUrl ?? SANDBOX_PATHS.terms, version: termsVersion ?? SANDBOX_VERSION },
      privacy: { url: privacyUrl ?? SANDBOX_PATHS.privacy, version: privacyVersion ?? SANDBOX_VERSION },
    };
  }

  consent(): Consent {
    const { terms, privacy } = this.present();
    return { terms_version: terms.version, privacy_version: privacy.version };
  }

  /** Throws `invalid_transition` for a consent to versions that are not current. */
  require(consent: Consent): void {
    const present = this.consent();
    const names = (['terms_version', 'privacy_version'] as const).filter(
      (name) => consent[name] !== present[name],
    );
    if (names.length === 0) return;
    const changed = names.map((name) => [name, [`is not the present one, ${present[name]}`]]);
    const message = 'The terms have changed; load the page again';
    throw new DomainError('invalid_transition', message, Object.fromEntries(changed));
  }
}
