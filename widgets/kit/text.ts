// Control characters, and those that becomes the direction of the text around them.
const INVISIBLE = /[\p{Cc}\p{Cs}\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Text of strangers as one reads it: what has no visible sign or would reorder its neighbours is written as its code. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (sign) =>
    sign === '\n' || sign === '\t' ? sign : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** `pending_approval` as people read it: "pending approval". */
export function spoken(code: string): string {
  return visible(code).replaceAll('_', ' ');
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A decimal with its digits grouped by thousands and at least two decimals: `1234.5` is `1,234.50`. Never rounded. */
export function money(amount: string): string {
  const [, sign, whole, decimals] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === undefined) return visible(amount);
  return `${sign}${grouped(whole)}.${(decimals ?? '').padEnd(2, '0')}`;
}

export function grouped(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** The first and the last characters of a long id. */
export function shortened(id: string, most = 18): string {
  return id.length <= most ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}
