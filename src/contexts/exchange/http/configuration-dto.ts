import { Fault } from '../../../kernel/fault.js';
import { ApiProperty, Field, Many } from '../../../platform/dto/field.js';
import { text, TIME } from '../../../platform/dto/rules.js';
import type { OnrampShown } from '../application/onramps.js';
import {
  CHAINS_TO,
  code,
  fiatAmount,
  fiatCurrency,
  nonEmpty,
  querySignature,
  returnUrl,
  signature,
  tagOrMemo,
  TOKENS_TO,
  withdrawAddress,
} from './parameters.js';

/** Far more than all of them. */
const MOST_ONRAMPS_TEXT = 1000;

/** Ids with commas between them; whether there are such on-ramps is looked up later. */
const ids = text({ examples: ['moonpay,transak'] }, (value) => {
  const found = value.split(',').map((id) => id.trim());
  return value.length > MOST_ONRAMPS_TEXT || found.includes('')
    ? new Fault('must be ids of on-ramps with commas between them')
    : found;
});

/** Query of GET /v1/merchants/configuration. */
export class ConfigurationQuery {
  @Field(code(TOKENS_TO), { description: 'What is paid out.' })
  token!: string;

  @Field(code(CHAINS_TO), { optional: true })
  chain?: string;

  @Field(withdrawAddress, { description: 'Where the exchanged funds go.' })
  withdraw_address!: string;

  @Field(tagOrMemo, { optional: true })
  withdraw_address_tag?: string;

  @Field(tagOrMemo, { optional: true })
  withdraw_address_memo?: string;

  @Field(fiatAmount, { optional: true, description: 'In onramp_fiat.' })
  onramp_amount?: string;

  @Field(fiatCurrency, { optional: true })
  onramp_fiat?: string;

  @Field(ids, {
    optional: true,
    description: 'Ids of the on-ramps to show, with commas between them; all of them otherwise.',
  })
  onramp_only_onramps?: readonly string[];

  @Field(nonEmpty, { optional: true, description: 'Whose order the widget makes.' })
  user_id?: string;

  @Field(returnUrl, {
    optional: true,
    description: 'Where the widget leads back to. Requires signature_v2, whatever the key demands.',
  })
  return_url?: string;

  @Field(signature, { optional: true })
  signature?: string;

  @Field(querySignature, { optional: true })
  signature_v2?: string;
}

class OnrampFiat {
  @ApiProperty({ type: 'string', examples: ['EUR'] })
  code!: string;

  @ApiProperty({ type: 'string' })
  minimum!: string;

  @ApiProperty({ type: 'string' })
  maximum!: string;
}

class Onramp implements OnrampShown {
  @ApiProperty({ type: 'string', examples: ['moonpay'] })
  id!: string;

  @ApiProperty({ type: 'string' })
  name!: string;

  @ApiProperty({ type: 'string', format: 'uri', description: 'Its shop, opened for this purchase.' })
  url!: string;

  @Many(() => OnrampFiat)
  fiats!: readonly OnrampFiat[];
}

/** contract.md 25.3. */
export class ConfigurationResponse {
  @ApiProperty({ type: 'string', format: 'uri', description: 'Opens the pay widget until expires_at.' })
  signed_url!: string;

  @ApiProperty(TIME)
  expires_at!: string;

  @ApiProperty({ type: 'string' })
  token!: string;

  @ApiProperty({ type: 'string' })
  chain!: string;

  @Many(() => Onramp)
  onramps!: readonly Onramp[];

  @ApiProperty({ type: 'string', nullable: true, description: "A notice for the caller's country." })
  compliance_notice!: string | null;
}
