import { integer, optional, setting, url, type SettingsOf } from '../../platform/config/settings.js';

/** Where the widget is. */
export const ONBOARDING_SETTINGS = {
  widgetPort: setting('WIDGET_PORT', integer(0, 65535), 3001, 'the port of the onboarding widget.'),
  widgetUrl: optional('WIDGET_URL', url('http', 'https'), 'the widget_url that merchants see.'),
};

declare module '../../platform/config/config.js' {
  interface Config extends SettingsOf<typeof ONBOARDING_SETTINGS> {}
}
