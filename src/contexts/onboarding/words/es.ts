import type { Words } from './en.js';

export const es: Words = {
  sms: '{code} es tu código para {merchant}. No se lo des a nadie.',
};
