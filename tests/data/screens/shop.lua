local Cart = require('cart')

local items = {
  { name = 'tea', price = 4.20, count = 2 },
  { name = 'cup', price = 9.90, count = 1 },
}

print(('%.2f'):format(Cart.total(items, 'SPRING')))
