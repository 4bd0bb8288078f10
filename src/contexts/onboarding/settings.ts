import { integer, optional, setting, text, url, type SettingsOf } from '../../platform/config/settings.js';

/** Where the widget is, and whom it lets in. */
export const ONBOARDING_SETTINGS = {
  widgetPort: setting('WIDGET_PORT', integer(0, 65535), 3001, 'the port of the onboarding widget.'),
  widgetUrl: optional('WIDGET_URL', url('http', 'https'), 'the widget_url that merchants see.'),
  onboardingTermsVersion: setting(
    'ONBOARDING_TERMS_VERSION',
    text,
    'sandbox',
    'the version of the terms that people agree to; it stands in the event of their consent.',
  ),
  onboardingPrivacyVersion: setting(
    'ONBOARDING_PRIVACY_VERSION',
    text,
    'sandbox',
    'the version of the privacy notice that people agree to; it stands in the event of their consent.',
  ),
  onboardingMinimumAge: setting(
    'ONBOARDING_MINIMUM_AGE',
    integer(0, 120),
    18,
    'years that a person must have to be onboarded.',
  ),
};

declare module '../../platform/config/config.js' {
  interface Config extends SettingsOf<typeof ONBOARDING_SETTINGS> {}
}
