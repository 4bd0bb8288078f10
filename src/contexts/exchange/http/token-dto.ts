import { ApiProperty, Field, Many } from '../../../platform/dto/field.js';
import { CHAINS_TO, code, nonEmpty, TOKENS_TO } from './parameters.js';

/** The only one, so that it may be left out. */
export const [CHAIN] = CHAINS_TO;

/** Query of GET /v1/tokens. */
export class TokensQuery {
  @Field(code(TOKENS_TO), { description: 'What is paid out.' })
  to_token!: string;

  @Field(code(CHAINS_TO), { optional: true })
  to_chain?: string;

  @Field(nonEmpty, { optional: true, description: 'For tracking.' })
  user_id?: string;
}

class TokenChain {
  @ApiProperty({ type: 'string', examples: ['ethereum'] })
  id!: string;

  @ApiProperty({ type: 'string' })
  name!: string;
}

class Token {
  @ApiProperty({ type: 'string', examples: ['usdc'] })
  id!: string;

  @ApiProperty({ type: 'string' })
  name!: string;

  @ApiProperty({ type: 'string', format: 'uri' })
  icon_url!: string;

  @Many(() => TokenChain, { minItems: 1 })
  chains!: readonly TokenChain[];

  @ApiProperty({ type: 'array', items: { type: 'string' }, description: 'What POST /v1/orders takes.' })
  pair_ids!: readonly string[];
}

/** contract.md 25.1. */
export class TokensResponse {
  @Many(() => Token)
  tokens!: readonly Token[];

  @ApiProperty({ type: 'string', nullable: true, description: "A notice for the caller's country." })
  compliance_notice!: string | null;
}
