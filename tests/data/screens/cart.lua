--- The cart of a shop.
local Cart = {}

--- The sum of the prices of all items.
local function sum(items)
  local total = 0
  for _, item in ipairs(items) do
    total = total + item.price * item.count
  end
  return total
end

--- What a customer pays.
function Cart.total(items, code)
  local price = sum(items)
  if code == 'SPRING' then
    price = price * 0.9
  end
  return price
end

return Cart
