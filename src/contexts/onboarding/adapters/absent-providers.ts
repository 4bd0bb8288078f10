import { DomainError } from '../../../kernel/domain-error.js';
import type { CardIssuer, IdentityVerifier, SmsSender, WalletProvisioner } from '../application/ports.js';

/** What stands in where no provider is configured: onboardings wait, and nothing is lost. */
export class AbsentProviders implements SmsSender, WalletProvisioner {
  send(): Promise<never> {
    return absent('SMS');
  }

  provision(): Promise<never> {
    return absent('wallet');
  }

  async replace(): Promise<void> {}
}

export class AbsentIdentity implements IdentityVerifier {
  readonly provider = 'none';

  decide(): Promise<never> {
    return absent('identity verification');
  }

  async forget(): Promise<void> {}
}

export class AbsentCards implements CardIssuer {
  issue(): Promise<never> {
    return absent('card');
  }

  async forget(): Promise<void> {}
}

function absent(provider: string): Promise<never> {
  return Promise.reject(new DomainError('unavailable', `No ${provider} provider is configured`));
}
