export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json };
