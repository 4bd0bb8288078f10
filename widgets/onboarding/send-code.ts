import { Refusal, reopen, type Api } from './api.js';
import type { Messages } from '../../src/contexts/onboarding/words/messages.js';

export interface CodeToEnter {
  readonly long: boolean | undefined;
  /** The notice about the code; null for a code that was just sent. */
  readonly notice: Extract<keyof Messages, `code${string}`> | null;
}

/** Requests a code. If none is sent, an earlier code is still valid. Rejects with {@link Refusal}. */
export async function sendCode(api: Api, phone: string): Promise<CodeToEnter> {
  try {
    return { ...(await api.sendCode(phone)), notice: null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.longCodeValid) return { long: true, notice: 'codeUseLong' };
    if (error.status !== 409) throw error;
    // It may also be that the account is being closed; then the page is refused too.
    await reopen();
    return { long: undefined, notice: 'codeSentBefore' };
  }
}
