import { DomainError } from '../../../kernel/domain-error.js';
import type { CardIssuer, IdentityVerifier, SmsSender, WalletProvisioner } from '../application/ports.js';

/** What stands in outside sandbox mode until providers are contracted: onboardings wait, and nothing is lost. */
export class AbsentProviders implements SmsSender, IdentityVerifier, WalletProvisioner, CardIssuer {
  send(): Promise<never> {
    return absent('SMS');
  }

  verify(): Promise<never> {
    return absent('identity verification');
  }

  provision(): Promise<never> {
    return absent('wallet');
  }

  issue(): Promise<never> {
    return absent('card');
  }
}

function absent(provider: string): Promise<never> {
  return Promise.reject(new DomainError('unavailable', `No ${provider} provider is configured`));
}
