import { ApiProperty } from '../../platform/dto/field.js';
import { UUID } from '../../platform/dto/rules.js';
import { publication, type Publication } from '../../platform/context.js';
import type { OnboardingEvent } from './onboardings/onboarding.js';

class OnboardingData {
  @ApiProperty(UUID) user_id!: string;
}

class KycFailedData extends OnboardingData {
  @ApiProperty({ type: 'string' }) reason!: string;
}

class OnboardingCompletedData extends OnboardingData {
  @ApiProperty({ type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' }) issuer_wallet_address!: string;
}

interface Published {
  readonly at: string;
  readonly user_id: string;
  readonly reason?: string;
  readonly issuer_wallet_address?: string;
}

function about(
  type: string,
  when: string,
  data: typeof OnboardingData = OnboardingData,
  field?: 'reason' | 'issuer_wallet_address',
): Publication {
  return publication<{ readonly data: Published }>({ type, when, data }, (event) => {
    const { at, user_id } = event;
    return { occurredAt: at, fields: field === undefined ? { user_id } : { user_id, [field]: event[field] } };
  });
}

/** The webhooks of onboarding (contract.md 13.5). */
export const ONBOARDING_PUBLISHES = {
  'onboarding.started.v1': about('user.onboarding_started', 'A user begins the onboarding.'),
  'onboarding.kyc_submitted.v1': about(
    'user.kyc_submitted',
    'Identity documents are submitted and under review.',
  ),
  'onboarding.kyc_passed.v1': about('user.kyc_passed', 'The identity of a user is approved.'),
  'onboarding.kyc_failed.v1': about(
    'user.kyc_failed',
    'The identity of a user is rejected.',
    KycFailedData,
    'reason',
  ),
  'onboarding.completed.v1': about(
    'user.onboarding_completed',
    'A user is active and has a wallet.',
    OnboardingCompletedData,
    'issuer_wallet_address',
  ),
} satisfies { readonly [Name in OnboardingEvent['type']]?: Publication };
