import { Refusal, reopen, type Api } from './api.js';

/** Asks for a code. False when one is on its way already and that one is to be used. Rejects with {@link Refusal}. */
export async function sendCode(api: Api, phone: string): Promise<boolean> {
  try {
    await api.sendCode(phone);
    return true;
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 409) throw error;
    // It may also be that the account is being closed; then the page is refused too.
    await reopen();
    return false;
  }
}
