// Control characters, including those that change the direction of the surrounding text.
const INVISIBLE = /[\p{Cc}\p{Cs}\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Escapes characters of untrusted text that are invisible or would reorder the surrounding text. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (sign) =>
    sign === '\n' || sign === '\t' ? sign : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Formats `pending_approval` as "pending approval". */
export function spoken(code: string): string {
  return visible(code).replaceAll('_', ' ');
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Formats a decimal with separators and at least two decimals, as `1,234.50`. Never rounds. */
export function money(amount: string): string {
  const [, sign, whole, decimals] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === undefined) return visible(amount);
  return `${sign}${grouped(whole)}.${(decimals ?? '').padEnd(2, '0')}`;
}

export function grouped(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Shortens a long id to its first and last characters. */
export function shortened(id: string, most = 18): string {
  return id.length <= most ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}
