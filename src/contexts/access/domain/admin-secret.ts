const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
const SECRET_DIGITS = 43;
const CHECK_DIGITS = 6;
const FORM = new RegExp(`^dsb_(live|test)_admin_[0-9A-Za-z]{${SECRET_DIGITS + CHECK_DIGITS}}$`);

export type KeyMode = 'live' | 'test';

/** `dsb_<live|test>_admin_<secret><check>` of 32 bytes (admin-api.md 1). */
export function adminSecret(mode: KeyMode, bytes: Uint8Array): string {
  if (bytes.length !== SECRET_BYTES) throw new RangeError(`an admin key has ${SECRET_BYTES} bytes`);
  const text = `dsb_${mode}_admin_${base62(numberOf(bytes), SECRET_DIGITS)}`;
  return text + checkOf(text);
}

/** Whether the text has the form of an admin key of this mode and its check is right: only then is it worth a query. */
export function isAdminSecret(mode: KeyMode, text: string): boolean {
  if (FORM.exec(text)?.[1] !== mode) return false;
  return checkOf(text.slice(0, -CHECK_DIGITS)) === text.slice(-CHECK_DIGITS);
}

function checkOf(text: string): string {
  return base62(BigInt(crc32(text)), CHECK_DIGITS);
}

function numberOf(bytes: Uint8Array): bigint {
  return bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

/** Most significant digit first, padded with `0`. */
function base62(number: bigint, length: number): string {
  let digits = '';
  for (let rest = number; rest > 0n; rest /= 62n) digits = DIGITS[Number(rest % 62n)] + digits;
  return digits.padStart(length, '0');
}

/** CRC-32 (IEEE 802.3) of ASCII characters. */
export function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let place = 0; place < text.length; place += 1) {
    crc ^= text.charCodeAt(place);
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
