import { DomainError } from '../../../kernel/domain-error.js';

/** What the pay page of a key displays besides the merchant's name. */
export interface PayPageSettings {
  /** A `data:` URL of a PNG or WebP: part of the page, so the page loads nothing from elsewhere. */
  readonly logo: string | null;
  readonly help_url: string | null;
  readonly terms_url: string | null;
}

export const NO_PAGE_SETTINGS: PayPageSettings = { logo: null, help_url: null, terms_url: null };

/** The logo is in each page and in the log. */
const MAX_LOGO_BYTES = 16_384;
const MAX_URL_LENGTH = 2048;
const LOGO = /^data:image\/(png|webp);base64,([A-Za-z0-9+/]+={0,2})$/;

/** No SVG: it can hold scripts and links. Throws `validation_failed` for another format or too many bytes. */
export function logoOf(bytes: Buffer): string {
  const type = typeOf(bytes);
  if (type === null || bytes.length > MAX_LOGO_BYTES) throw wrongLogo();
  return `data:image/${type};base64,${bytes.toString('base64')}`;
}

/** Throws `validation_failed`. */
export function checkPage({ logo, help_url, terms_url }: PayPageSettings): void {
  for (const [name, url] of Object.entries({ help_url, terms_url }))
    if (url !== null && !isWebLink(url))
      throw DomainError.invalid({
        [name]: [`must be a URL that begins with https:// and has at most ${MAX_URL_LENGTH} characters`],
      });
  if (logo === null) return;
  const [, type, base64 = ''] = LOGO.exec(logo) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > MAX_LOGO_BYTES || type === undefined || type !== typeOf(bytes)) throw wrongLogo();
}

function isWebLink(text: string): boolean {
  return text.length <= MAX_URL_LENGTH && URL.canParse(text) && new URL(text).protocol === 'https:';
}

function typeOf(bytes: Buffer): 'png' | 'webp' | null {
  if (bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n') return 'png';
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'webp' : null;
}

function wrongLogo(): DomainError {
  return DomainError.invalid({ logo: [`must be a PNG or WebP of at most ${MAX_LOGO_BYTES / 1024} KiB`] });
}
