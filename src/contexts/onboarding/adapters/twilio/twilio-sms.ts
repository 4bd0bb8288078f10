import type { Twilio } from 'twilio';
import type { OnApplicationShutdown } from '@nestjs/common';
import { MessageUncertain, ProviderRefusal, type SmsSender } from '../../application/ports.js';
import { providerClient, unavailable } from '../provider-client.js';
import { TwilioTransport, TwilioUnreachable } from './twilio-transport.js';

export interface TwilioAccount {
  readonly twilioAccountSid: string;
  readonly twilioAuthToken: string;
  /** One of the two. */
  readonly twilioFrom: string | null;
  readonly twilioMessagingServiceSid: string | null;
  readonly twilioUrl: string;
}

/**
 * Codes of https://www.twilio.com/docs/api/errors of numbers that get no message, however often it is sent: no number, a
 * country that the account does not send to, not verified by a trial account, unsubscribed, out of reach, no mobile, a landline.
 */
const REFUSED_NUMBERS: readonly unknown[] = [21211, 21408, 21608, 21610, 21612, 21614, 21635];
const REASON = 'We cannot send a message to this number';

/** Codes by SMS through Twilio (ADR 124). */
export class TwilioSms implements SmsSender, OnApplicationShutdown {
  private readonly client;
  private twilio: Promise<Twilio> | null = null;

  constructor(
    private readonly account: TwilioAccount,
    timeoutMs?: number,
  ) {
    this.client = providerClient(timeoutMs);
  }

  async send(
    phoneNumber: string,
    { text, validSeconds }: { readonly text: string; readonly validSeconds: number },
  ): Promise<void> {
    const { twilioFrom, twilioMessagingServiceSid } = this.account;
    const twilio = await (this.twilio ??= this.open());
    const message = await twilio.messages
      .create({
        to: phoneNumber,
        ...(twilioFrom === null ? {} : { from: twilioFrom }),
        ...(twilioMessagingServiceSid === null ? {} : { messagingServiceSid: twilioMessagingServiceSid }),
        body: text,
        validityPeriod: validSeconds,
      })
      .catch((error: unknown) => fail(error));
    const { sid, accountSid, status } = message as { sid: unknown; accountSid: unknown; status: unknown };
    if (!/^(SM|MM)[0-9a-f]{32}$/.test(String(sid)) || accountSid !== this.account.twilioAccountSid)
      throw unavailable('Twilio', 'it tells of no message of ours');
    if (status === 'failed' || status === 'undelivered' || status === 'canceled')
      throw unavailable('Twilio', `the message is ${status} at once`);
  }

  onApplicationShutdown(): Promise<void> {
    return this.client.close();
  }

  /** Twilio's package takes a tenth of a second and 20 MB to load: the first message loads it. */
  private async open(): Promise<Twilio> {
    const { default: twilio } = await import('twilio');
    const { twilioAccountSid, twilioAuthToken, twilioUrl } = this.account;
    // A transport is all of a RequestClient that is used.
    const httpClient = new TwilioTransport(this.client, twilioUrl) as never;
    return twilio(twilioAccountSid, twilioAuthToken, { httpClient, autoRetry: false });
  }
}

/** What Twilio says quotes the number; it goes no further. */
function fail(error: unknown): never {
  if (error instanceof TwilioUnreachable) {
    if (error.wasSent) throw new MessageUncertain(error.message);
    throw unavailable('Twilio', error.message);
  }
  const { status, code } = error as { readonly status?: unknown; readonly code?: unknown };
  if (typeof status !== 'number') throw unavailable('Twilio', 'its response makes no sense');
  const told = typeof code === 'number' ? `${status}, error ${code}` : String(status);
  if (status === 400 && REFUSED_NUMBERS.includes(code))
    throw new ProviderRefusal(REASON, { cause: new Error(`Twilio responds with ${told}`) });
  throw unavailable('Twilio', `it responds with ${told}`);
}
