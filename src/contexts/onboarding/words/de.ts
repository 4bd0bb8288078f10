import type { Words } from './en.js';

export const de: Words = {
  sms: '{code} ist dein Code für {merchant}. Gib ihn niemandem.',
};
