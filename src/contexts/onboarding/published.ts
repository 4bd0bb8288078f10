import { ApiProperty } from '../../platform/dto/field.js';
import { UUID } from '../../platform/dto/rules.js';
import { publication, type WebhookContent, type Publication } from '../../platform/context.js';
import type { OnboardingEventOf } from './domain/onboarding.js';

class OnboardingData {
  @ApiProperty(UUID) user_id!: string;
}

class KycFailedData extends OnboardingData {
  @ApiProperty({ type: 'string' }) reason!: string;
}

class OnboardingCompletedData extends OnboardingData {
  @ApiProperty({ type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' }) issuer_wallet_address!: string;
}

const started = { type: 'user.onboarding_started', when: 'A user begins the onboarding.' };
const submitted = { type: 'user.kyc_submitted', when: 'Identity documents are submitted and under review.' };
const passed = { type: 'user.kyc_passed', when: 'The identity of a user is approved.' };
const failed = { type: 'user.kyc_failed', when: 'The identity of a user is rejected.' };
const completed = { type: 'user.onboarding_completed', when: 'A user is active and has a wallet.' };
const aboutUser = ({ at, user_id }: OnboardingEventOf<'onboarding.started.v1'>['data']): WebhookContent => ({
  occurredAt: at,
  fields: { user_id },
});

/** What endpoints receive of onboardings (contract.md 13.5). */
export const ONBOARDING_PUBLISHES: Readonly<Record<string, Publication>> = {
  'onboarding.started.v1': publication<OnboardingEventOf<'onboarding.started.v1'>>(
    { ...started, data: OnboardingData },
    aboutUser,
  ),
  'onboarding.kyc_submitted.v1': publication<OnboardingEventOf<'onboarding.kyc_submitted.v1'>>(
    { ...submitted, data: OnboardingData },
    aboutUser,
  ),
  'onboarding.kyc_passed.v1': publication<OnboardingEventOf<'onboarding.kyc_passed.v1'>>(
    { ...passed, data: OnboardingData },
    aboutUser,
  ),
  'onboarding.kyc_failed.v1': publication<OnboardingEventOf<'onboarding.kyc_failed.v1'>>(
    { ...failed, data: KycFailedData },
    ({ at, user_id, reason }) => ({ occurredAt: at, fields: { user_id, reason } }),
  ),
  'onboarding.completed.v1': publication<OnboardingEventOf<'onboarding.completed.v1'>>(
    { ...completed, data: OnboardingCompletedData },
    ({ at, user_id, issuer_wallet_address }) => ({
      occurredAt: at,
      fields: { user_id, issuer_wallet_address },
    }),
  ),
};
