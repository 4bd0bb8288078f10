import { integer, optional, setting, text, url, type SettingsOf } from '../../platform/config/settings.js';
import { PROVIDER_SETTINGS } from './provider-settings.js';

/** Where the widget is, and whom it lets in. */
export const ONBOARDING_SETTINGS = {
  widgetPort: setting('WIDGET_PORT', integer(0, 65535), 3001, 'the port of the onboarding widget.'),
  widgetUrl: optional('WIDGET_URL', url('http', 'https'), 'the widget_url that merchants see.'),
  onboardingTermsUrl: optional(
    'ONBOARDING_TERMS_URL',
    url('https', 'http'),
    'the address of the terms that people agree to; the sandbox has its own page.',
  ),
  onboardingTermsVersion: optional(
    'ONBOARDING_TERMS_VERSION',
    text,
    'the version of these terms; the event of their consent contains it.',
  ),
  onboardingPrivacyUrl: optional(
    'ONBOARDING_PRIVACY_URL',
    url('https', 'http'),
    'the address of the privacy notice that people agree to; the sandbox has its own page.',
  ),
  onboardingPrivacyVersion: optional(
    'ONBOARDING_PRIVACY_VERSION',
    text,
    'the version of this notice; the event of their consent contains it.',
  ),
  onboardingMinimumAge: setting(
    'ONBOARDING_MINIMUM_AGE',
    integer(0, 120),
    18,
    'years that a person must have to be onboarded.',
  ),
  onboardingCodesPerAddress: setting(
    'ONBOARDING_CODES_PER_ADDRESS',
    integer(1, 1_000_000),
    200,
    'messages with a code that one address may request within 24 hours, for all users together.',
  ),
  onboardingGiveUpSeconds: setting(
    'ONBOARDING_GIVE_UP_SECONDS',
    integer(1, 2_592_000),
    86_400,
    'how long an identity or card provider without a response is retried before the step has failed.',
  ),
  onboardingImageDays: setting(
    'ONBOARDING_IMAGE_DAYS',
    integer(1, 90),
    7,
    'days after which images that were never handed to the identity provider are deleted.',
  ),
  identityCallbackMaxAgeSeconds: setting(
    'IDENTITY_CALLBACK_MAX_AGE_SECONDS',
    integer(60, 2_592_000),
    86_400,
    'how old a callback of the identity provider may be; older ones are refused. Longer than the provider repeats them.',
  ),
  sandboxReviewSeconds: optional(
    'SANDBOX_REVIEW_SECONDS',
    integer(0, 31_536_000),
    'how long the sandbox keeps an identity with the last name Review under review before it passes automatically; without it, until an operator decides.',
  ),
  ...PROVIDER_SETTINGS,
};

declare module '../../platform/config/config.js' {
  interface Config extends SettingsOf<typeof ONBOARDING_SETTINGS> {}
}
