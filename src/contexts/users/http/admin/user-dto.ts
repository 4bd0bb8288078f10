import { Fault } from '../../../../kernel/fault.js';
import { tidy } from '../../../../kernel/typed-text.js';
import { text, uuid, oneOf } from '../../../../platform/dto/rules.js';
import { Filter, ListParameters } from '../../../../platform/http/list-query.js';
import { readExternalId } from '../../application/profile.js';
import { parsePhoneNumber } from '../../application/phone-number.js';
import { USER_STATES, type UserState } from '../../views/users.js';

const WALLET = /^0x[0-9a-f]{40}$/i;

/** A plus arrives as a blank where it is not escaped. */
const phoneRule = text({ examples: ['+15550001111'] }, (value) => parsePhoneNumber(value.replace(/^ /, '+')));
const walletRule = text({ pattern: WALLET.source }, (value) =>
  WALLET.test(tidy(value)) ? tidy(value) : new Fault('must be an address: 0x and 40 hexadecimal digits'),
);

/** Query of GET /admin/v1/users. */
export class UsersQuery extends ListParameters {
  @Filter(uuid, 'Only users of this merchant.') merchant_id?: string;

  @Filter(
    phoneRule,
    'Only who has this phone number now, in E.164 form. It needs the scope users_personal:read.',
  )
  phone_number?: string;

  @Filter(text({}, readExternalId), "Only users with this id of their merchant's own.") external_id?: string;
  @Filter(walletRule, 'Only the user with this issuer wallet address, in either letter case.')
  wallet?: string;
  @Filter(oneOf(USER_STATES), 'Only users in this state.') state?: UserState;
}
